/** The thread in which large bodies are parsed and checked, each by the same schema as a small one of its route. */
import { type PlainRefusal, plainRefusal, Refusal } from '../../protocol/errors.ts';
import { serveCalls } from '../../watch/side-thread.ts';
import { MANIFEST_BOUNDS, manifestBody } from '../runtime/manifest-body.ts';
import { checkBody, parseJson } from './body.ts';

/** What `checkBody` gave, or why it refused. */
export type ReadBody = { readonly body: unknown } | { readonly refused: PlainRefusal };

export type BodyCalls = { manifest(bytes: Uint8Array): ReadBody };

function manifest(bytes: Uint8Array): ReadBody {
  try {
    return { body: checkBody(manifestBody, parseJson(bytes, 'runtime', MANIFEST_BOUNDS), 'runtime') };
  } catch (error) {
    if (error instanceof Refusal) return { refused: plainRefusal(error) };
    throw error;
  }
}

serveCalls({ manifest } satisfies BodyCalls);
