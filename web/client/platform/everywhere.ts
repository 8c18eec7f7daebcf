/** Surroundings of what browsers, Node and workers have in common. Values are kept in memory unless something better is handed in. */
import type { Clock, FileContent, FileRequest, KeptValues, SendFile, Surroundings } from '../surroundings.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export function keptInMemory(): KeptValues {
  const values = new Map<string, string>();
  return {
    read: (name) => Promise.resolve(values.get(name) ?? null),
    write(name, value) {
      values.set(name, value);
      return Promise.resolve();
    },
    remove(name) {
      values.delete(name);
      return Promise.resolve();
    },
  };
}

const UUID_BYTES = 16;

/** The UUID (version 4, in lower case) of 16 random bytes. */
export function uuidOf(random: Uint8Array): string {
  const hex = [...random].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  // The variant's digit is 8, 9, a or b.
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function isBlob(content: FileContent): content is Blob {
  return content instanceof Blob;
}

/** Sends a `Blob` by `fetch`, which tells only when it begins and when it is done. */
export const sendByFetch: SendFile = async ({ address, headers, file, signal, onProgress }: FileRequest) => {
  if (!isBlob(file.content)) throw new TypeError('This platform sends files as Blob.');
  const form = new FormData();
  form.append('file', file.content, file.name);
  onProgress(0);
  const answer = await fetch(address, { method: 'POST', headers, body: form, signal });
  const text = await answer.text();
  onProgress(1);
  return { status: answer.status, headers: answer.headers, text };
};

/** What `given` says, and the platform's own for the rest. */
export function everywhere(given: Partial<Surroundings> = {}): Surroundings {
  return {
    fetch: (address, request) => fetch(address, request),
    sendFile: sendByFetch,
    clock: systemClock,
    // Not by `crypto.randomUUID`, which pages of plain http do not have.
    mintUuid: () => uuidOf(crypto.getRandomValues(new Uint8Array(UUID_BYTES))),
    kept: keptInMemory(),
    log: () => {},
    ...given,
  };
}
