/** Where its steps are shown. */
export function newestAddress(app: string, { machine, instance }: NewestTrace): string {
  const value = encodeURIComponent(instance);
  const query = machine === 'chat-turn' ? `turn_id=${value}` : `machine=${encodeURIComponent(machine)}&instance=${value}`;
  return `/console/traces/${encodeURIComponent(app)}?${query}`;
}

import type { NewestTrace } from '../../../protocol/console/answers.ts';
