/** H1: what it costs that a request reaches another node than the one that has its conversation: hand-over when it is idle there, forwarding when it is busy. */
import { measureForwarding } from './forwarding.ts';
import { measureHandOver } from './hand-over.ts';
import type { Question } from './question.ts';

export const betweenNodes: Question = {
  name: 'H1',
  async measure(scene) {
    const handOver = await measureHandOver(scene);
    const forwarding = await measureForwarding(scene);
    return {
      name: 'H1',
      markdown: [handOver.markdown, forwarding.markdown].join('\n\n'),
      data: { hand_over: handOver.data, forwarding: forwarding.data },
    };
  },
};
