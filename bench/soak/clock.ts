/** The clock of the day of the programs under a soak, which may jump: `clock.c` is preloaded into them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileC, projectDir } from '../load/compile.ts';

export interface Clock {
  readonly env: Readonly<Record<string, string>>;
  /** From now on it shows so much more than the machine's. */
  set(offsetMs: number): void;
}

function bytesOf(offsetMs: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(offsetMs));
  return bytes;
}

/** @throws Error without a C compiler */
export function makeClock(dir: string): Clock {
  const [library, file] = [join(dir, 'clock.so'), join(dir, 'clock-offset')];
  compileC(join(projectDir(), 'bench/soak/clock.c'), library, ['-shared', '-fPIC']);
  writeFileSync(file, bytesOf(0));
  return {
    env: { LD_PRELOAD: library, CLOCK_OFFSET: file },
    // In place: whoever has mapped the file sees the same bytes.
    set: (offsetMs) => writeFileSync(file, bytesOf(offsetMs), { flag: 'r+' }),
  };
}
