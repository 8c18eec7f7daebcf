/** Where all instances of one machine are at one moment of a story. */
import { activeOf } from '../machines/highlights.ts';
import type { Scene } from './traces.ts';

/** Names of the instances in each state, of two or more instances; empty while there is one alone. */
export type Places = ReadonlyMap<string, readonly string[]>;

/** Ids begin alike: their ends tell them apart. */
export const NAME_CHARS = 6;

/** The instances of the machine of the scene that is looked at, each in the state of its last scene up to then. */
export function placesOf(story: readonly Scene[], at: number): Places {
  const machine = story[at]?.trace.machine;
  const states = new Map<string, string>();
  for (const { trace, step } of story.slice(0, at + 1)) if (trace.machine === machine) states.set(trace.instance, step.to);
  const places = new Map<string, string[]>();
  if (states.size < 2) return places;
  for (const [instance, path] of states) {
    for (const state of activeOf(path)) places.set(state, [...(places.get(state) ?? []), instance.slice(-NAME_CHARS)]);
  }
  return places;
}
