/** Actions and screens as they were declared and as a build registers them, side by side by their names. */

import type { DeclaredAction, DeclaredScreen } from '../../../protocol/console/setup-answers.ts';
export type Definition = Readonly<Record<string, unknown>>;

export interface Manifest {
  readonly sdk: string;
  readonly last_seen_at: string;
  readonly standing: 'vouched' | 'in_use' | 'new';
  /** Different hours in which turns named it. */
  readonly hours: number;
  readonly document: {
    readonly actions: readonly (Definition & { readonly name: string; readonly description: string; readonly risk?: string })[];
    readonly routes: readonly (Definition & { readonly name: string; readonly title: string })[];
  };
}

export interface Row<Declared> {
  readonly name: string;
  readonly declared: Declared | undefined;
  /** As the build that counts registers it. */
  readonly build: Definition | undefined;
  /** As the newest build registers it, where that is another one. */
  readonly newest: Definition | undefined;
}

export function rowsOf<Declared extends { readonly name: string; readonly archived_at: string | null }>(
  declared: readonly Declared[],
  build: readonly (Definition & { readonly name: string })[],
  newest: readonly (Definition & { readonly name: string })[],
): readonly Row<Declared>[] {
  const inService = declared.filter(({ archived_at: at }) => at === null);
  const names = [...new Set([...inService, ...build, ...newest].map(({ name }) => name))].sort();
  return names.map((name) => ({
    name,
    declared: inService.find((one) => one.name === name),
    build: build.find((one) => one.name === name),
    newest: newest.find((one) => one.name === name),
  }));
}

interface Param {
  readonly name: string;
  readonly type?: string;
  readonly required?: boolean;
  readonly description?: string;
}

/** A declaration lists its parameters, a build names them. */
export function paramsOf({ params = [] }: Definition): readonly Param[] {
  if (Array.isArray(params)) return params as Param[];
  return Object.entries(params as Readonly<Record<string, Omit<Param, 'name'>>>).map(([name, param]) => ({ ...param, name }));
}

/** What the service adds to a definition that was declared. */
const ADDED: ReadonlySet<string> = new Set([
  'id',
  'host',
  'has_key',
  'enabled',
  'planned',
  'origin',
  'reason',
  'archived_at',
  'created_at',
  'updated_at',
]);

export function definitionOf(declared: object): Definition {
  return Object.fromEntries(Object.entries(declared).filter(([name, value]) => !ADDED.has(name) && value !== null));
}

/** Whether a build says nothing there: it may leave out what a declaration has. */
function isUnsaid(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

/** Names of the fields that both sides have, and with other values. */
export function differing({ declared, build }: Row<object>): readonly string[] {
  if (declared === undefined || build === undefined) return [];
  const own: Definition = { ...declared };
  const both = Object.keys(build).filter((name) => Object.hasOwn(own, name) && name !== 'params' && !isUnsaid(build[name]));
  return both.filter((name) => JSON.stringify(own[name]) !== JSON.stringify(build[name]));
}

export interface Mark {
  /** Its word and its colour: ../parts/states.ts. */
  readonly state: string;
  readonly what: string;
}

const ONLY_NEWEST: Mark = {
  state: 'newest_only',
  what: 'Only the newest build registers it, and that one is not the current one yet: see above why.',
};

export function actionMark(row: Row<DeclaredAction>): Mark {
  const { declared, build } = row;
  if (declared === undefined && build === undefined) return ONLY_NEWEST;
  if (declared === undefined) {
    return {
      state: 'in_the_build',
      what: 'The app itself runs it. It is changed in the app, and registered with its next start.',
    };
  }
  if (build !== undefined) return { state: 'twice', what: "The build's own action goes first. Archive this one, or rename it." };
  if (!declared.enabled) return { state: 'waits_for_a_key', what: 'It is off until its key is entered.' };
  return { state: 'on', what: `The service calls ${declared.host} for it.` };
}

export function screenMark(row: Row<DeclaredScreen>): Mark {
  const { declared, build } = row;
  if (declared === undefined && build === undefined) return ONLY_NEWEST;
  if (declared === undefined) return { state: 'in_the_build', what: 'It works. Declare it, so that a build that loses it is noticed.' };
  if (build === undefined) {
    return declared.planned
      ? { state: 'planned', what: 'No build registers it yet. Register it in the app and start it once, or archive it.' }
      : { state: 'missing', what: 'An earlier build registers it, the latest does not.' };
  }
  const fields = differing(row);
  if (fields.length > 0) return { state: 'differs', what: `Another one in the build: ${fields.join(', ')}. The build's counts.` };
  return { state: 'in_both', what: 'The latest build registers it.' };
}

/** `get_order_status` → `Get order status`; a screen has a title of its own. */
export function titleOf({ name, declared, build, newest }: Row<object>): string {
  const title = [declared, build, newest].map((each) => (each as Definition | undefined)?.title).find((each) => typeof each === 'string');
  const words = name.replaceAll('_', ' ');
  return typeof title === 'string' && title !== '' ? title : words.charAt(0).toUpperCase() + words.slice(1);
}

export const RISKS: Readonly<Record<string, string>> = { read: 'reads', write: 'changes', destructive: 'destroys' };
