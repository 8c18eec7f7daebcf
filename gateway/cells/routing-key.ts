/** The name in a request that identifies its organisation: a key, a setup token or code, or an id in a console path (CELL-1). */
import type { Name } from '../../actors/cells/directory.ts';
import { EARLIER_KEY_PREFIX, KEY_PREFIX, runtimeHeader } from '../../protocol/headers.ts';
import { isId } from '../../protocol/ids.ts';
import type { Exchange } from '../http/exchange.ts';
import { bearerOf } from '../http/request-headers.ts';
import type { Route } from '../route.ts';

/** Other spellings were never minted, so other cells are not asked for them. */
const KEY = new RegExp(`^${KEY_PREFIX}(?:live|test)_[A-Za-z0-9_-]{8,120}$`);
const SETUP_TOKEN = /^rd_st_[0-9a-f]{24}$/;
const SETUP_CODE = /^[0-9a-f]{32}$/;

type NameOf = (exchange: Exchange) => Name | undefined;

function keyOf(exchange: Exchange): Name | undefined {
  const token = runtimeHeader(exchange.header, 'key');
  const name = token.startsWith(EARLIER_KEY_PREFIX) ? KEY_PREFIX + token.slice(EARLIER_KEY_PREFIX.length) : token;
  return KEY.test(name) ? { kind: 'key', name } : undefined;
}

function setupTokenOf(exchange: Exchange): Name | undefined {
  const name = bearerOf(exchange.header('authorization')) ?? '';
  return SETUP_TOKEN.test(name) ? { kind: 'setup_token', name } : undefined;
}

function setupCodeOf(exchange: Exchange): Name | undefined {
  const name = exchange.query.get('code') ?? '';
  return SETUP_CODE.test(name) ? { kind: 'setup_code', name } : undefined;
}

/** Parameters of console paths that name something of one organisation, with the prefix of their ids. */
const CONSOLE_PARAMETERS = {
  org: ['organisation', 'org'],
  app: ['app', 'app'],
  session: ['session', 'ses'],
  pairing: ['pairing', 'pai'],
  proposal: ['proposal', 'pro'],
  conversation: ['conversation', 'cnv'],
} as const;

function isConsoleParameter(name: string): name is keyof typeof CONSOLE_PARAMETERS {
  return Object.hasOwn(CONSOLE_PARAMETERS, name);
}

function appInQuery(exchange: Exchange): Name | undefined {
  const name = exchange.query.get('app') ?? '';
  return isId('app', name) ? { kind: 'app', name } : undefined;
}

function consoleNameOf(parameter: keyof typeof CONSOLE_PARAMETERS): NameOf {
  const [kind, prefix] = CONSOLE_PARAMETERS[parameter];
  return (exchange) => {
    // With the app in the query no search is needed.
    const app = kind === 'conversation' ? appInQuery(exchange) : undefined;
    const name = exchange.params[parameter] ?? '';
    return app ?? (isId(prefix, name) ? { kind, name } : undefined);
  };
}

/** How requests of the route name their organisation; undefined: they name none, so any cell serves them. */
function ruleOf(route: Route): NameOf | undefined {
  if (route.anyCell === true) return undefined;
  if (route.caller === 'runtime') return keyOf;
  if (route.caller === 'setup' || route.caller === 'setup_claimant') return setupTokenOf;
  if (route.path === '/setup/file') return setupCodeOf;
  if (route.caller !== 'operator') return undefined;
  const parameter = route.path.split('/').find((part) => part.startsWith(':') && isConsoleParameter(part.slice(1)));
  return parameter === undefined ? undefined : consoleNameOf(parameter.slice(1) as keyof typeof CONSOLE_PARAMETERS);
}

const rules = new WeakMap<Route, NameOf | false>();

/** The request's name of its organisation; undefined: it has none, so it is answered here. */
export function nameOf(route: Route, exchange: Exchange): Name | undefined {
  let rule = rules.get(route);
  if (rule === undefined) {
    rule = ruleOf(route) ?? false;
    rules.set(route, rule);
  }
  return rule === false ? undefined : rule(exchange);
}
