/** All samples by component: a component without one does not compile. */
import { answerSamples } from './answers.ts';
import { commerceSamples } from './commerce.ts';
import { listSamples, placeSamples } from './lists.ts';
import { proseSamples } from './prose.ts';
import type { Samples } from './sample.ts';

export const SAMPLES: Samples = { ...proseSamples, ...answerSamples, ...listSamples, ...commerceSamples, ...placeSamples };
