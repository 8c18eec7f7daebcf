/** H1: what it costs that a request reaches another node than the one that has its conversation: hand-over when it is idle there, forwarding when it is busy. */

import type { Question } from '../../question.ts';
import { measureForwarding } from './forwarding.ts';
import { measureHandOver } from './hand-over.ts';

export const betweenNodes: Question = {
  name: 'H1',
  what: 'hand-over and forwarding between two nodes',
  expectedSeconds: ({ quick, rounds }) => (quick ? 40 : 60 + 60 * rounds),
  async measure(scene) {
    const handOver = await measureHandOver(scene);
    const forwarding = await measureForwarding(scene);
    return {
      tables: [handOver.table, forwarding.table],
      warnings: [...handOver.warnings, ...forwarding.warnings],
      data: { hand_over: handOver.data, forwarding: forwarding.data },
    };
  },
};
