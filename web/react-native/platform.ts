/** Surroundings of an app of React Native: what its platform does not have, or not alike everywhere, is handed in. */
import { everywhere, uuidOf } from '../client/platform/everywhere.ts';
import type { Fetch, KeptValues, SendFile, Surroundings } from '../client/surroundings.ts';

/** As AsyncStorage, and what keeps values in a keychain, have it. */
export interface NativeStorage {
  getItem(name: string): Promise<string | null>;
  setItem(name: string, value: string): Promise<unknown>;
  removeItem(name: string): Promise<unknown>;
}

export interface NativeParts {
  /** Where the device, and what is under way, are kept: AsyncStorage of `@react-native-async-storage/async-storage`. */
  readonly storage: NativeStorage;
  /** One that streams: that of `expo/fetch`. React Native's own gives an answer when it is complete. */
  readonly fetch: Fetch;
  /** Chance for ids: `getRandomValues` of `expo-crypto` or `react-native-get-random-values`, where `crypto` has none. */
  readonly random?: (bytes: Uint8Array) => Uint8Array;
  readonly log?: Surroundings['log'];
}

/** A file that a picker chose. */
export interface NativeFile {
  readonly uri: string;
  readonly name: string;
  /** Its media type. */
  readonly type: string;
}

function keptIn(storage: NativeStorage): KeptValues {
  return {
    read: (name) => storage.getItem(name),
    write: async (name, value) => void (await storage.setItem(name, value)),
    remove: async (name) => void (await storage.removeItem(name)),
  };
}

/** React Native's own fetch reads the file that `uri` names, as part of a form. */
const sendByUri: SendFile = async ({ address, headers, file, signal, onProgress }) => {
  const form = new FormData();
  form.append('file', file.content as Blob, file.name);
  onProgress(0);
  const answer = await fetch(address, { method: 'POST', headers, body: form, signal });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

const UUID_BYTES = 16;

/** @throws TypeError that says what is missing: without it nothing would work, and nothing would say why */
export function native({ storage, fetch, random, log }: NativeParts): Surroundings {
  const chance = random ?? globalThis.crypto?.getRandomValues.bind(globalThis.crypto);
  const needs: readonly (readonly [isThere: boolean, sentence: string])[] = [
    [typeof fetch === 'function', 'fetch must be handed in: one that streams, as that of expo/fetch.'],
    [typeof storage?.getItem === 'function', 'storage must be handed in: AsyncStorage.'],
    [typeof TextDecoder === 'function', 'this platform has no TextDecoder: install one before the assistant starts.'],
    [typeof chance === 'function', 'this platform has no crypto.getRandomValues: hand in random.'],
  ];
  const missing = needs.find(([isThere]) => !isThere);
  if (missing !== undefined || chance === undefined) throw new TypeError(`Assistant: ${missing?.[1]}`);
  const mintUuid = () => uuidOf(chance(new Uint8Array(UUID_BYTES)));
  return everywhere({ fetch, kept: keptIn(storage), sendFile: sendByUri, mintUuid, ...(log === undefined ? {} : { log }) });
}
