/**
 * Whether the configured model can be used: asks it once at the start, and observes how its rounds end. A wrong key, name or address is a
 * condition of the node, shown in the log, in `GET /readyz` for operators, and in the banner.
 */
import type { Logger } from 'pino';
import { createAnthropicModel } from '../assistant/models/anthropic/anthropic.ts';
import { failedSentence, type Model, type ModelFailure } from '../assistant/models/model.ts';
import { createOfflineModel } from '../assistant/models/offline/offline.ts';
import { createOpenAiModel, createResponsesModel } from '../assistant/models/openai/openai.ts';
import type { Conditions } from '../storage/health/conditions.ts';
import type { Config } from './config.ts';

/** The banner waits no longer than this for the model: a service that is up should say so. */
const BANNER_WAIT_MS = 3_000;

/** A single refusal may be caused by one message, which anybody can send; this many in a row are about the model. */
const REFUSALS_IN_A_ROW = 3;

/** A minimal question; the answer is aborted at its first word. */
const QUESTION = {
  system: 'Answer with one word.',
  messages: [{ role: 'user', content: 'Are you there?' }],
  now: '',
  passages: [],
  tools: [],
  requestId: 'start',
  sender: { app: '', device: '' },
} as const;

export interface CheckedModel {
  readonly model: Model;
  /** One line about what is wrong, if known within some seconds; undefined when nothing is. */
  complaint(): Promise<string | undefined>;
}

function askOnce(model: Model): Promise<ModelFailure | undefined> {
  return new Promise((resolve) => {
    const answered = () => {
      run.abort();
      resolve(undefined);
    };
    const run = model.stream(QUESTION, { text: answered, toolCallStarted: answered, finished: () => resolve(undefined), failed: resolve });
  });
}

type Remote = Exclude<Config['model'], { readonly provider: 'offline' }>;

const WIRES = { openai: createOpenAiModel, 'openai-responses': createResponsesModel, anthropic: createAnthropicModel } as const;

/** `maker`: how the variables of its key and its address begin. */
function hintFor({ kind, status }: ModelFailure, maker: string): string {
  if (kind === 'silent') return `Raise MODEL_SILENCE_S where it has to be loaded first, else check ${maker}_BASE_URL.`;
  if (kind === 'exhausted') return `Its account has to be paid, or its quota raised: the key is in ${maker}_API_KEY.`;
  if (kind === 'misconfigured' && (status === 401 || status === 403)) return `Check ${maker}_API_KEY.`;
  if (kind === 'misconfigured') return `Check MODEL and ${maker}_BASE_URL.`;
  return kind === 'refused' ? 'Check MODEL.' : `Check ${maker}_BASE_URL, and whether the server is up.`;
}

function complaintAbout({ provider, model: name }: Remote, failure: ModelFailure): string {
  return `The model ${JSON.stringify(name)} does not answer: ${failure.detail.replace(/\.$/, '')}. ${hintFor(failure, provider === 'anthropic' ? 'ANTHROPIC' : 'OPENAI')}`;
}

/** The model of the configuration. The offline model is not asked, and neither is one whose check is switched off. */
export function createCheckedModel(config: Config['model'], conditions: Conditions, log: Logger): CheckedModel {
  if (config.provider === 'offline') return { model: createOfflineModel(), complaint: () => Promise.resolve(undefined) };
  const { provider, model: name, isChecked, ...server } = config;
  let refusals = 0;
  const noteOutcome = (failure: ModelFailure | undefined) => {
    // What is wrong with one message is not about the model.
    if (failure?.kind !== 'refused') conditions.tried('model_failing', name, failure && failedSentence(`the model ${name}`, failure));
    if (failure === undefined) {
      refusals = 0;
      conditions.close('model_unusable');
    } else if (failure.kind === 'misconfigured' || failure.kind === 'exhausted') {
      refusals += 1;
      if (refusals >= REFUSALS_IN_A_ROW) conditions.open('model_unusable', complaintAbout(config, failure));
    }
  };
  const model = WIRES[provider]({ ...server, model: name, log, onOutcome: noteOutcome });
  let isClosing = false;
  const check = async () => {
    const startedMs = performance.now();
    const failure = await askOnce(model);
    if (isClosing) return undefined;
    if (failure === undefined) {
      conditions.close('model_unusable');
      log.info({ model: name, ms: Math.round(performance.now() - startedMs) }, 'the model answered its test question');
      return undefined;
    }
    const complaint = complaintAbout(config, failure);
    // A busy model recovers by itself; every other failure, including an absent server, is a condition.
    if (failure.kind === 'busy') log.warn(complaint);
    else conditions.open('model_unusable', complaint);
    return complaint;
  };
  const checked = isChecked ? check() : Promise.resolve(undefined);
  return {
    model: {
      ...model,
      close() {
        isClosing = true;
        return model.close();
      },
    },
    complaint() {
      const late = new Promise<undefined>((resolve) => void setTimeout(() => resolve(undefined), BANNER_WAIT_MS).unref());
      return Promise.race([checked, late]);
    },
  };
}
