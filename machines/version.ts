/** The version of a machine: what of its definition can be written down, as a hash. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AnyStateMachine } from 'xstate';
import { machineGraph } from './graph.ts';

/** Definitions never change while the program runs, and whoever notes a step asks for the version. */
const versions = new WeakMap<AnyStateMachine, string>();

/**
 * 16 hex digits of the SHA-256 of a machine's states and transitions, with the names of its guards and actions. What a guard or an action
 * does is code, which no hash of a definition sees: whoever changes what one decides gives it another name.
 */
export function machineVersion(machine: AnyStateMachine): string {
  const known = versions.get(machine);
  if (known !== undefined) return known;
  const { guards, actions } = machine.implementations;
  const definition = { graph: machineGraph(machine), guards: Object.keys(guards).sort(), actions: Object.keys(actions).sort() };
  const version = createHash('sha256')
    .update(canonicalize(definition) ?? '')
    .digest('hex')
    .slice(0, 16);
  versions.set(machine, version);
  return version;
}
