/** What the row of a call keeps of its action: as it was when the person was asked, whatever the app declares since. */
import type { ManifestAction } from '../../protocol/runtime/manifest.ts';
import type { ActionDefinition } from '../../protocol/setup/action-rules.ts';
import type { InvocationRow } from '../../storage/conversations/invocations.ts';

export interface CallDefinition {
  readonly action: ManifestAction;
  readonly locale: string | null;
  /** Null for an action that the client runs. */
  readonly http: ActionDefinition | null;
  /** What the model called it with, once a person has changed that. */
  readonly asked?: InvocationRow['params'];
}

export function definitionOf({ definition }: Pick<InvocationRow, 'definition'>): CallDefinition | null {
  return definition === null ? null : (JSON.parse(definition) as CallDefinition);
}

/** The model's own call of a stored row, and what a person changed in it. In placeholder form. */
export function originalCall(row: InvocationRow): {
  readonly params: InvocationRow['params'];
  readonly edits: InvocationRow['params'] | null;
} {
  // Only an edit raises the revision: most rows need not be looked into.
  const asked = row.revision === 1 ? undefined : definitionOf(row)?.asked;
  if (asked === undefined) return { params: row.params, edits: null };
  const names = new Set([...Object.keys(asked), ...Object.keys(row.params)]);
  const changed = [...names].filter((name) => JSON.stringify(asked[name]) !== JSON.stringify(row.params[name]));
  const edits = changed.length === 0 ? null : Object.fromEntries(changed.map((name) => [name, row.params[name] ?? null]));
  return { params: asked, edits };
}
