/**
 * The checks before the load: the service answers, every key works and is no live key by mistake, and a turn is answered. A failed check
 * ends the run with one line instead of a table of errors.
 */
import { adviceFor } from './advice.ts';
import type { Connections, Request } from './connections.ts';
import { type Failure, shown } from './failure.ts';
import {
  type Asker,
  ask,
  FEW_COMPONENTS,
  failureOf,
  headersOf,
  jsonOf,
  mintDevice,
  mintRequestId,
  NoAnswer,
  type WholeAnswer,
} from './service-api.ts';
import type { SilenceWatch } from './silence-watch.ts';
import { Tally } from './tally.ts';
import { Turn } from './turn.ts';
import { CannotRun } from './usage.ts';
import type { App } from './visits.ts';

const LIVE_KEY = /^[a-z]+_pk_live_/;
const KEY_SHOWN_CHARS = 14;
const ADDRESS_MAX_CHARS = 200;

/** The actions that `read` and `confirm` visits make the model call. */
const MANIFEST = {
  version: 'loadtest-1',
  actions: [
    {
      name: 'get_order_status',
      description: 'Looks up where an order is. Call it when the person asks about the status or delivery of an order.',
      risk: 'read',
      params: { order_id: { type: 'string', description: 'Number of the order, such as A-1042', required: true } },
    },
    {
      name: 'cancel_order',
      description: 'Cancels an order. Call it when the person asks to cancel an order.',
      risk: 'write',
      params: { order_id: { type: 'string', description: 'Number of the order, such as A-1042', required: true } },
      confirm_template: 'Cancel order {order_id}?',
    },
  ],
};

export interface Target {
  readonly url: URL;
  readonly connections: Connections;
  readonly silence: SilenceWatch;
}

/** The beginning of a key, enough to tell it from others. */
export function shownKey(key: string): string {
  return key.length <= KEY_SHOWN_CHARS ? key : `${key.slice(0, KEY_SHOWN_CHARS)}…`;
}

function withAdvice(what: string, { code, message }: Failure): CannotRun {
  const advice = adviceFor(code);
  const words = message.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '');
  const said = `${what} (${words === '' || words.includes(code) ? words || code : `${code}: ${words}`})`;
  if (advice === undefined) return new CannotRun(`${said}.`);
  return new CannotRun(`${said}: ${advice}${advice.endsWith('?') ? '' : '.'}`);
}

async function asked({ url, connections, silence }: Target, request: Request): Promise<WholeAnswer> {
  try {
    return await ask(connections, request, silence.watch);
  } catch (error) {
    if (error instanceof NoAnswer) throw withAdvice(`${url.origin} does not answer`, error.failure);
    throw error;
  }
}

function refuseLive(key: string, isLiveAllowed: boolean): void {
  if (isLiveAllowed) return;
  throw new CannotRun(`${shownKey(key)} is a live key, and live turns cost money: use the app's test key, or say --live if you mean it.`);
}

async function checkKey(target: Target, asker: Asker, isLiveAllowed: boolean): Promise<'live' | 'test'> {
  const answer = await asked(target, { method: 'GET', path: '/v1/apps/config', headers: headersOf(asker, mintRequestId()) });
  const { channel, available } = jsonOf(answer);
  const where = target.url.origin + target.url.pathname.replace(/\/$/, '');
  if (answer.status >= 300 && answer.status < 400) {
    throw new CannotRun(
      `${where} sends its callers to ${shown(answer.headers.get('location') ?? 'another address', ADDRESS_MAX_CHARS)}: give that one as --url.`,
    );
  }
  const failure = failureOf(answer);
  if (/^\d{3} /.test(failure.code)) throw withAdvice(`${shownKey(asker.key)} is refused`, failure);
  if (answer.status !== 200 || (channel !== 'draft' && channel !== 'published')) {
    throw new CannotRun(`${where} answers, but not as the Assistant Service does (${failure.message || answer.status}): look at --url.`);
  }
  if (channel === 'published') refuseLive(asker.key, isLiveAllowed);
  if (available === false) throw withAdvice(`${shownKey(asker.key)} is refused`, { code: 'notice credit_exhausted', message: '' });
  return channel === 'published' ? 'live' : 'test';
}

async function register(target: Target, asker: Asker): Promise<string> {
  const body = JSON.stringify({ sdk: 'web/1.0.0', manifest: MANIFEST });
  const answer = await asked(target, { method: 'POST', path: '/v1/apps/manifest', headers: headersOf(asker, mintRequestId()), body });
  const { manifest_hash: hash } = jsonOf(answer);
  if (answer.status === 200 && typeof hash === 'string') return hash;
  throw withAdvice('the actions of read and confirm visits could not be registered', failureOf(answer));
}

/** Sends one turn, which no figure counts, to find a limit or a failing model before the load. */
async function tryTurn({ connections, silence }: Target, asker: Asker, text: string): Promise<string | undefined> {
  const context = { connections, silence, tally: new Tally(new Map()), pauseMs: Number.POSITIVE_INFINITY, isOver: () => true };
  const turn = new Turn(context, {
    kind: 'new',
    asker,
    conversationId: undefined,
    components: FEW_COMPONENTS,
    say: { message: { text } },
    fromMs: performance.now(),
    isRamp: false,
  });
  const { failures, model } = await turn.play();
  const [failure] = failures;
  // A connection that breaks is a finding of the run, no reason not to start.
  if (failure === undefined || failure.code === 'cut') return model;
  throw withAdvice('the first turn was refused', failure);
}

export interface Checked {
  readonly apps: readonly App[];
  readonly channels: readonly ('live' | 'test')[];
  readonly model: string | undefined;
}

export async function preflight(
  target: Target,
  keys: readonly string[],
  isLiveAllowed: boolean,
  needsActions: boolean,
  text: string,
): Promise<Checked> {
  // By prefix first, so that no request is sent with a live key.
  for (const key of keys) if (LIVE_KEY.test(key)) refuseLive(key, isLiveAllowed);
  const apps: App[] = [];
  const channels: ('live' | 'test')[] = [];
  let model: string | undefined;
  for (const key of keys) {
    const asker: Asker = { key, device: mintDevice(), manifestHash: undefined };
    channels.push(await checkKey(target, asker, isLiveAllowed));
    const manifestHash = needsActions ? await register(target, asker) : undefined;
    model = (await tryTurn(target, { ...asker, manifestHash }, text)) ?? model;
    apps.push({ key, manifestHash });
  }
  return { apps, channels, model };
}
