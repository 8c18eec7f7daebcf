/** What a running process holds, from /proc and its own metrics. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'undici';

/** Resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  assert.ok(kilobytes !== undefined, 'the process runs');
  return Number(kilobytes) * 1024;
}

/** Open file descriptors of a process: sockets, files, pipes. */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Values of /metrics by series (name, or name with labels). */
export async function readMetrics(baseUrl: string): Promise<ReadonlyMap<string, number>> {
  const answer = await request(`${baseUrl}/metrics`);
  const text = await answer.body.text();
  assert.equal(answer.statusCode, 200);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

/** The process that others were put around, one in the other; itself when it has no child. */
export function innermost(pid: number | undefined): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return child ? innermost(Number(child)) : Number(pid);
}
