/**
 * Whether the configured model can be used: asks it once at the start, and observes how its rounds end. A wrong key, name or address is a
 * condition of the node, shown in the log, in `GET /readyz` for operators, and in the banner.
 */
import type { Logger } from 'pino';
import { failedSentence, hintFor, type Model, type ModelFailure, type Usage } from '../assistant/models/model.ts';
import { createOfflineModel } from '../assistant/models/offline/offline.ts';
import { createOpenAiModel } from '../assistant/models/openai/openai.ts';
import type { Conditions } from '../storage/health/conditions.ts';
import type { Measures } from '../watch/measures.ts';
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

function complaintAbout(name: string, failure: ModelFailure): string {
  return `The model ${JSON.stringify(name)} does not answer: ${failure.detail.replace(/\.$/, '')}. ${hintFor(failure)}`;
}

/** The model of the configuration. The offline model is not asked, and neither is one whose check is switched off. */
export function createCheckedModel(config: Config['model'], conditions: Conditions, log: Logger): CheckedModel {
  if (config.provider === 'offline') return { model: createOfflineModel(), complaint: () => Promise.resolve(undefined) };
  const { apiKey, baseUrl, model: name, silenceMs, isChecked } = config;
  let refusals = 0;
  const noteOutcome = (failure: ModelFailure | undefined) => {
    // What is wrong with one message is not about the model.
    if (failure?.kind !== 'refused') conditions.tried('model_failing', name, failure && failedSentence(failure));
    if (failure === undefined) {
      refusals = 0;
      conditions.close('model_unusable');
    } else if (failure.kind === 'misconfigured' || failure.kind === 'exhausted') {
      refusals += 1;
      if (refusals >= REFUSALS_IN_A_ROW) conditions.open('model_unusable', complaintAbout(name, failure));
    }
  };
  const model = createOpenAiModel({ apiKey, baseUrl, model: name, log, silenceMs, onOutcome: noteOutcome });
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
    const complaint = complaintAbout(name, failure);
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

/** The same model, each round of which is measured. One that is aborted, as when a person stops it, ends as nothing. */
export function measuredModel(model: Model, measures: Pick<Measures, 'roundEnded'>): Model {
  return {
    ...model,
    stream(request, sink) {
      const startedMs = performance.now();
      let firstMs: number | null = null;
      const began = () => {
        firstMs ??= performance.now() - startedMs;
      };
      const ended = (outcome: string, usage: Usage | undefined) => {
        const [tokensIn, tokensOut] = [usage?.inputTokens ?? 0, usage?.outputTokens ?? 0];
        measures.roundEnded({ model: model.name, outcome, wholeMs: performance.now() - startedMs, firstMs, tokensIn, tokensOut });
      };
      return model.stream(request, {
        text(delta) {
          began();
          sink.text(delta);
        },
        toolCallStarted(call) {
          began();
          sink.toolCallStarted(call);
        },
        finished(result) {
          ended(result.reason, result.usage);
          sink.finished(result);
        },
        failed(failure) {
          ended(failure.kind, failure.usage);
          sink.failed(failure);
        },
      });
    },
  };
}
