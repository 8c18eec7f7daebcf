/**
 * Whether the configured model can be used: asks it once at the start, and observes how its rounds end. A wrong key, name or address is a
 * condition of the node, shown in the log, in `GET /readyz` for operators, and in the banner.
 */
import type { Logger } from 'pino';
import { createAnthropicModel } from '../assistant/models/anthropic/anthropic.ts';
import { withFallbacks } from '../assistant/models/fallbacks.ts';
import {
  failedSentence,
  hintFor,
  isOfModel,
  type MendAt,
  type Model,
  type ModelFailure,
  type ModelRequest,
  type Usage,
} from '../assistant/models/model.ts';
import { createOfflineModel, OFFLINE_MODEL_NAME } from '../assistant/models/offline/offline.ts';
import { createOpenAiModel, createResponsesModel } from '../assistant/models/openai/openai.ts';
import { SendingBudget } from '../assistant/models/stream/sending-budget.ts';
import type { ModelOffer } from '../protocol/setup/model-choice.ts';
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

type Remote = Exclude<Config['model'], { readonly provider: 'offline' }>;

const WIRES = { openai: createOpenAiModel, 'openai-responses': createResponsesModel, anthropic: createAnthropicModel } as const;

const NOT_SHOWN = '(The picture cannot be shown to you. Say so.)';

/** For a model that reads none: what stands for a picture is its name, and that it is not shown. */
function withoutPictures(request: ModelRequest): ModelRequest {
  const messages = request.messages.map((message) => {
    if (message.role !== 'user' || message.images === undefined) return message;
    return { role: message.role, content: `${message.content}\n\n${NOT_SHOWN}` };
  });
  return { ...request, messages };
}

/** What apps may choose from, each name once; of several with one name the first is told. */
export function offeredModels({ model, fallbacks }: Pick<Config, 'model' | 'fallbacks'>): readonly ModelOffer[] {
  const first = model.provider === 'offline' ? { model: OFFLINE_MODEL_NAME, images: false } : model;
  const offers = new Map<string, ModelOffer>();
  for (const { model: name, images } of [first, ...fallbacks]) {
    // The words of a document are found here, so each model reads them.
    if (!offers.has(name)) offers.set(name, { name, reads: ['text', 'documents', ...(images ? (['images'] as const) : [])] });
  }
  return [...offers.values()];
}

/** One model of the configuration, which is asked once; `subject`: what its conditions are about. */
function checkedRemote(
  config: Remote,
  subject: string,
  mendAt: MendAt,
  conditions: Conditions,
  log: Logger,
  sending: SendingBudget,
): CheckedModel {
  const { provider, model: name, isChecked, images, ...server } = config;
  const complaintAbout = (failure: ModelFailure) =>
    `The model ${JSON.stringify(name)} does not answer: ${failure.detail.replace(/\.$/, '')}. ${hintFor(failure, mendAt)}`;
  let refusals = 0;
  const noteOutcome = (failure: ModelFailure | undefined) => {
    // What is wrong with one message is not about the model.
    if (failure === undefined || isOfModel(failure))
      conditions.tried('model_failing', subject === '' ? name : subject, failure && failedSentence(failure, mendAt));
    if (failure === undefined) {
      refusals = 0;
      conditions.close('model_unusable', subject);
    } else if (failure.kind === 'misconfigured' || failure.kind === 'exhausted') {
      refusals += 1;
      if (refusals >= REFUSALS_IN_A_ROW) conditions.open('model_unusable', complaintAbout(failure), subject);
    }
  };
  const model = WIRES[provider]({ ...server, model: name, log, sending, onOutcome: noteOutcome });
  let isClosing = false;
  const check = async () => {
    const startedMs = performance.now();
    const failure = await askOnce(model);
    if (isClosing) return undefined;
    if (failure === undefined) {
      conditions.close('model_unusable', subject);
      log.info({ model: name, ms: Math.round(performance.now() - startedMs) }, 'the model answered its test question');
      return undefined;
    }
    const complaint = complaintAbout(failure);
    // A busy model recovers by itself; every other failure, including an absent server, is a condition.
    if (failure.kind === 'busy') log.warn(complaint);
    else conditions.open('model_unusable', complaint, subject);
    return complaint;
  };
  const checked = isChecked ? check() : Promise.resolve(undefined);
  return {
    model: {
      ...model,
      mendAt,
      stream: images ? model.stream : (request, sink) => model.stream(withoutPictures(request), sink),
      close() {
        isClosing = true;
        return model.close();
      },
    },
    complaint: () => checked,
  };
}

/** The models of the configuration, as one. The offline model is not asked, and neither is one whose check is switched off. */
export function createCheckedModel(
  config: Config['model'],
  conditions: Conditions,
  log: Logger,
  fallbacks: Config['fallbacks'] = [],
  metered: (each: Model) => Model = (each) => each,
): CheckedModel {
  if (config.provider === 'offline') return { model: metered(createOfflineModel()), complaint: () => Promise.resolve(undefined) };
  const maker = config.provider === 'anthropic' ? 'ANTHROPIC' : 'OPENAI';
  const mendAt = { key: `${maker}_API_KEY`, address: `${maker}_BASE_URL`, model: 'MODEL' };
  // One for all: the bytes on their way are this process's.
  const sending = new SendingBudget();
  const first = checkedRemote(config, '', mendAt, conditions, log, sending);
  // Two entries may have one name, at other servers.
  const others = fallbacks.map((each, nth) =>
    checkedRemote(
      each,
      `${each.model} (MODELS ${nth})`,
      { key: 'its key in MODELS', address: 'its address in MODELS', model: 'its model' },
      conditions,
      log,
      sending,
    ),
  );
  return {
    model: {
      ...withFallbacks([metered(first.model), ...others.map(({ model }) => metered(model))], undefined, (model, parameter) =>
        log.warn({ model, parameter }, 'a model does not take how an app asks it: asking it without'),
      ),
      mendAt,
    },
    complaint() {
      const late = new Promise<undefined>((resolve) => void setTimeout(() => resolve(undefined), BANNER_WAIT_MS).unref());
      return Promise.race([first.complaint(), late]);
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
        const wholeMs = performance.now() - startedMs;
        const { inputTokens: tokensIn = 0, cachedTokens: tokensCached = 0, outputTokens: tokensOut = 0 }: Partial<Usage> = usage ?? {};
        measures.roundEnded({ model: model.name, outcome, wholeMs, firstMs, tokensIn, tokensCached, tokensOut });
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
