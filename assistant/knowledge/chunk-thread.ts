/** The thread in which long knowledge texts are cut into passages. */
import { serveCalls } from '../../watch/side-thread.ts';
import { chunkText } from './chunk.ts';

export type ChunkCalls = { chunk(text: string): ReturnType<typeof chunkText> };

serveCalls({ chunk: (text: string) => chunkText(text) });
