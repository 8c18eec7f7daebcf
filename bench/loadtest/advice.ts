/** What to do about an error of a load test, by its code: one sentence for the reader of the report. */

const LIMITS =
  'raise the limits of the app for the test: PATCH /console/api/apps/APP with messages_per_minute, messages_per_day, messages_per_minute_per_address 0 and messages_per_day_per_address 0 (docs/load-testing.md)';

/** A map, because codes come from strangers: `constructor` is no key of it. */
const ADVICE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    rate_limited: LIMITS,
    'notice user_limit': LIMITS,
    'notice credit_exhausted': 'the organisation has no usage credit left: give it some, or test an app of another one',
    'notice spend_paused': 'the app has spent its daily_model_budget_usd: raise it, or wait until midnight UTC',
    'notice daily_ceiling': 'the service has spent its PLATFORM_DAILY_BUDGET_USD: raise it, or wait until midnight UTC',
    quota_exceeded:
      'the test keys of an organisation open 200 conversations a month, and these are used up until the 1st (UTC): use the live key of an app made for tests, with --live',
    invalid_key: 'list the keys that work with GET /console/api/apps/APP/keys, or make one',
    not_found: 'look at --url',
    app_not_live: 'use its test key, or make it live with POST /console/api/apps/APP/go-live',
    app_suspended: 'PATCH /console/api/apps/APP with suspended false',
    origin_not_allowed: 'the service takes the request for one of a browser: a proxy in between adds an Origin header',
    model_busy: 'the server of the model is over its capacity: that is the limit which was found',
    '503 internal': 'the service has more to do than it can, and refuses what it cannot begin: that is the limit which was found',
    internal: 'look for the request id in the log of the service',
    storage_unavailable: 'the service cannot write: look at its disk and its log',
    organisation_unavailable: 'the file of the organisation is not there: look at the log of the service',
    upgrade_required: 'the app wants a later SDK than web/1.0.0: take web out of its min_sdk for the test',
    manifest_unknown: 'the actions that were registered for the test are gone: somebody registers manifests at the same time',
    invalid_request: 'the service does not take what was sent: is it of the same version as this load tester?',
    cut: 'connections break within a stream: look for timeouts and restarts of what stands between here and the service',
    closed:
      'connections were closed before an answer: look for limits of what stands between here and the service, and whether https is meant',
    silent: 'streams fall silent: something in between holds them back (proxies must not buffer text/event-stream)',
    not_started: 'more visits were open than --max-open allows: the service is slower than the load that was asked for',
    unfinished: 'these were still open when the run ended: give them longer with --drain, or take less load',
    ECONNREFUSED: 'nothing listens there: is the service running, and is the port right?',
    ENOTFOUND: 'there is no host of this name: look at --url',
    EAI_AGAIN: 'the name of the host cannot be looked up now: look at --url and the network',
    ETIMEDOUT: 'the host takes no connection: is there a firewall in between?',
    EHOSTUNREACH: 'there is no way to the host: look at --url and the network',
    ECONNRESET:
      'the other side closed the connection before an answer: a restart, too many connections for it, or http where https is meant',
    EPROTO: 'the other side does not speak TLS: is http meant?',
    EMFILE: 'this machine lets one process open too few files: raise ulimit -n',
    EADDRNOTAVAIL: 'this machine has no ports left: take fewer connections, or a second machine',
    not_http: 'what answers is no HTTP/1.1 server: look at the port',
    history_lost: 'a conversation does not have the messages that were told: look for the request id in the log of the service',
  }),
);
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO/;

/** What to do about this code, as the tally has it (`429 rate_limited`, `internal (in the stream)`, `ECONNREFUSED`); undefined when there is no advice. */
export function adviceFor(code: string): string | undefined {
  if (CERTIFICATE.test(code)) return 'its certificate is not trusted here: name the authority’s file in NODE_EXTRA_CA_CERTS';
  const name = code.replace(/^\d{3} /, '').replace(/ \(in the stream\)$/, '');
  const advice = ADVICE.get(code) ?? ADVICE.get(name);
  if (advice !== undefined) return advice;
  return /^(?:502|503|504)$/.test(name) ? 'the service is not there behind its proxy, or too slow for it' : undefined;
}
