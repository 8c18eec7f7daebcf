/** Surroundings of what browsers, Node and workers have in common. Values are kept in memory unless something better is handed in. */
import type { Clock, FileContent, FileRequest, KeptValues, SendFile, Surroundings } from '../surroundings.ts';

/** The system's clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Values that last as long as the program. */
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
    mintUuid: () => crypto.randomUUID(),
    kept: keptInMemory(),
    log: () => {},
    ...given,
  };
}
