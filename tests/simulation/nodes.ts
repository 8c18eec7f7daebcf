/** The processes of the simulated world: each is the program as `compose` puts it together, but for the model and everything below. */
import pino from 'pino';
import type { Model, ModelRequest, ModelSink } from '../../assistant/models/model.ts';
import { type Composed, compose } from '../../program/compose.ts';
import { readConfig } from '../../program/config.ts';
import { CARD_ACTION, pacedAnswer, questionOf } from '../support/paced-model.ts';
import { dataDirOf } from './disk.ts';
import { Owner, uncaught, world } from './world.ts';

/** Errors that the program logged: of those that no fault explains the run looks. */
export const logged: string[] = [];
const log = pino(
  { level: process.env.SHOW === undefined ? 'error' : 'info' },
  {
    write(line: string) {
      logged.push(line);
      if (process.env.SHOW !== undefined) process.stderr.write(line);
    },
  },
);

/** How the model is at present. */
export const modelling = { words: 6, everyMs: 40, fails: 0 };
export const MODEL_CALM = { ...modelling };

/** The failures of one question: a turn is given up after 10 attempts, and every question is to be answered here. */
const FAILURES_MAX = 3;

/** The n-th call for a question says so. */
const asked = new Map<string, number>();

/** A model that answers the question it is asked, or calls the action that a person has to confirm. */
function speak(request: ModelRequest, sink: ModelSink) {
  const { name, ordinal, wantsCard } = questionOf(request.messages);
  const call = (asked.get(name) ?? 0) + 1;
  asked.set(name, call);
  const owner = world.current;
  const usage = { inputTokens: 1_000, outputTokens: 1_000 };
  const failsAt = call <= FAILURES_MAX && world.dice.below(100) < modelling.fails ? world.dice.below(modelling.words) : -1;
  const kind = world.dice.pick(['busy', 'silent', 'broken'] as const);
  const card = { id: `call_${name}`, name: CARD_ACTION, arguments: '{}' };
  const says: (() => void)[] = wantsCard
    ? [() => sink.toolCallStarted(card), () => sink.finished({ reason: 'tool_calls', toolCalls: [card], usage })]
    : [
        () => sink.text(pacedAnswer(name, ordinal, call, 0)),
        ...Array.from({ length: modelling.words }, () => () => sink.text(' word')),
        () => sink.finished({ reason: 'stop', toolCalls: [], usage }),
      ];
  if (failsAt >= 0) says.splice(failsAt, says.length, () => sink.failed({ kind, detail: 'as it was meant to' }));
  let isPaused = false;
  let isWaiting = false;
  const next = () => {
    isWaiting = false;
    if (isPaused) return;
    says.shift()?.();
    plan();
  };
  const plan = () => {
    if (isWaiting || says.length === 0) return;
    isWaiting = true;
    world.after(world.between([0.1, modelling.everyMs]), owner, next);
  };
  plan();
  return {
    pause() {
      world.note(`the model of ${name} is paused`);
      isPaused = true;
    },
    resume: () => {
      world.note(`the model of ${name} goes on`);
      isPaused = false;
      plan();
    },
    abort() {
      world.note(`the model of ${name} is not heard`);
      says.length = 0;
    },
  };
}
const model: Pick<Model, 'stream'> = { stream: speak };

/** The process of a call is gone, or is not there. */
export class Broken extends Error {}

export class SimulatedNode {
  readonly cell: string;
  readonly name: string;
  #owner = new Owner('');
  /** Undefined while it is down or starts. */
  composed: Composed | undefined;
  starts = 0;

  constructor(cell: string, name: string) {
    this.cell = cell;
    this.name = name;
    this.#owner.isAlive = false;
  }

  get isUp(): boolean {
    return this.composed !== undefined && this.#owner.isAlive;
  }
  get owner(): Owner {
    return this.#owner;
  }

  start(env: Readonly<Record<string, string>> = {}): void {
    if (this.#owner.isAlive) return;
    this.starts += 1;
    const owner = new Owner(`${this.name}.${this.starts}`);
    this.#owner = owner;
    const config = readConfig({
      DATA_DIR: dataDirOf(this.cell),
      REDIS_URL: 'redis://127.0.0.1:1',
      NODE_ID: this.name,
      DEMO: 'off',
      BANNER: 'off',
      ALLOW_PRIVATE_ADDRESSES: 'true',
      TURN_LOSSES_MAX: '999',
      MODEL_PRICES: '{"offline":{"input":1,"output":2}}',
      OPERATOR_TOKEN: 'op_0123456789abcdef0123456789abcdef',
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...env,
    });
    world.after(0, owner, () => {
      world.note(`starts`);
      compose(config, log, () => this.drain()).then(
        (composed) => {
          Object.assign(composed.model, model);
          composed.begin();
          this.composed = composed;
          world.note('is up');
        },
        (error: unknown) => {
          world.note(`does not start: ${error instanceof Error ? error.message : error}`);
          this.failure = error;
          this.kill();
        },
      );
    });
  }
  failure: unknown;

  kill(): void {
    if (!this.#owner.isAlive) return;
    world.note(`${this.#owner.name} is killed`);
    this.composed = undefined;
    world.kill(this.#owner);
  }

  /** As SIGTERM: what runs may end, and the process does. `gone` is called then, unless it is killed before. */
  drain(gone = () => {}): void {
    const { composed } = this;
    if (composed === undefined) return;
    this.composed = undefined;
    world.after(0, this.#owner, () => {
      world.note('drains');
      composed.services.node.send({ type: 'drain' } as never);
      composed.actors.host
        .drain(2_000)
        .then(() => composed.close())
        .catch((error: unknown) => uncaught.push(error))
        .then(() => {
          this.kill();
          gone();
        });
    });
  }

  /** Does `work` in the process, as a request would arrive there, and answers as its answer would come back. @throws Broken; what work throws */
  call<T>(work: (composed: Composed) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const owner = this.#owner;
      const back = (settle: () => void) => world.after(world.between([0.1, 2]), null, settle);
      const broken = () => back(() => reject(new Broken(`${owner.name} is gone`)));
      if (!this.isUp) {
        broken();
        return;
      }
      owner.atEnd.push(broken);
      world.after(world.between([0.1, 2]), owner, () => {
        const { composed } = this;
        if (composed === undefined) broken();
        else
          work(composed).then(
            (value) => back(() => resolve(value)),
            (error: unknown) => back(() => reject(error)),
          );
      });
    });
  }
}

export function beginNodes(): void {
  asked.clear();
  logged.length = 0;
  Object.assign(modelling, MODEL_CALM);
}
