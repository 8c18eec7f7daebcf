/** Where the interfaces are reached from outside (decisions §1). */
import type { Services } from '../services.ts';

/** `PUBLIC_URL`, or what the caller itself reached the service by. */
export function publicUrlOf({ config }: Services, header: (name: string) => string): string {
  return config.publicUrl ?? `http://${header('host')}`;
}

export function setupUrlOf(services: Services, header: (name: string) => string): string {
  return `${publicUrlOf(services, header)}/setup`;
}
