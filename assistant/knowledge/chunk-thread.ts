import { serveCalls } from '../../watch/side-thread.ts';
import { chunkText } from './chunk.ts';

export type ChunkCalls = { chunk(text: string): ReturnType<typeof chunkText> };

serveCalls({ chunk: (text: string) => chunkText(text) });
