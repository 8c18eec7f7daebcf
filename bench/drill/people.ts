/**
 * The load of a drill: people who write, have things done and confirm them, and an operator who makes organisations. Each keeps what was
 * acknowledged and when, and repeats under the same id what was not.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createTestApp, HANDSHAKE, parseEvents, type StreamedEvent } from '../../tests/support/client.ts';
import { type Host, OPERATOR_TOKEN } from './host.ts';
import { DO_IT } from './site.ts';

export interface Acknowledged {
  /** `turn`: by its turn_id; `confirmation`: by its invocation's id; `organisation`: by its id. */
  readonly kind: 'turn' | 'confirmation' | 'organisation';
  readonly id: string;
  readonly atMs: number;
  /** The app of an organisation by its id, and a turn in it by turn_id, acknowledged before. */
  readonly with?: readonly string[];
}

interface Person {
  /** By default that of the app in use. */
  readonly key?: string;
  readonly device: string;
  base(): string;
}

const REQUEST_MAX_MS = 30_000;
const RETRY_MS = 200;
/** One in so many messages has something done. */
const DOES_EVERY = 3;
const ORGANISATION_EVERY_MS = 3_000;

/** The conversation went on elsewhere, or is not there any more: begin another. */
class GaveUp extends Error {}

export class People {
  readonly #key: string;
  readonly acknowledged: Acknowledged[] = [];
  readonly #firstTurns: { readonly base: string; readonly atMs: number }[] = [];
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(key: string) {
    this.#key = key;
  }

  /** `bases`: where they send to: the first to the first, and round again. `home`: where organisations are made. */
  begin(count: number, bases: readonly (() => string)[], home: () => Host): void {
    const people = Array.from({ length: count }, (_, at) => {
      const base = bases[at % bases.length] ?? (() => '');
      return this.#live({ device: randomUUID().replaceAll('-', ''), base });
    });
    this.#running = Promise.all([...people, this.#makeOrganisations(home)]);
  }

  firstTurnAfter(sinceMs: number, base: string): number | undefined {
    const first = this.#firstTurns.find((turn) => turn.base === base && turn.atMs > sinceMs);
    return first === undefined ? undefined : first.atMs - sinceMs;
  }

  async end(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  #note(kind: Acknowledged['kind'], id: string, parts: readonly string[] = []): void {
    this.acknowledged.push({ kind, id, atMs: Date.now(), with: parts });
  }

  async #live(person: Person): Promise<void> {
    for (let said = 1; !this.#stopped; said += 1) {
      try {
        if (said % DOES_EVERY === 0) await this.#haveItDone(person);
        else await this.#turn(person, { message: { text: 'Where is my order?' } });
      } catch (error) {
        if (!(error instanceof GaveUp)) throw error;
      }
    }
  }

  async #haveItDone(person: Person): Promise<void> {
    const asked = await this.#turn(person, { message: { text: DO_IT } });
    const [pending] = (asked.at(-1)?.pending ?? []) as { invocation_id: string }[];
    if (pending === undefined) throw new GaveUp();
    const id = pending.invocation_id;
    await this.#through(async () => {
      const answer = await this.#send(person, `/v1/invocations/${id}/confirm`, { decision: 'confirm' });
      if (answer.status >= 500) return undefined;
      if (answer.status !== 200) throw new GaveUp();
      const { status } = (await answer.json()) as { status: string };
      if (status !== 'confirmed') throw new GaveUp();
      return status;
    });
    this.#note('confirmation', id);
    const conversation = asked.find(({ type }) => type === 'turn.start')?.conversation_id;
    await this.#turn(person, { conversation_id: conversation, tool_results: [{ invocation_id: id, status: 'ok', confirmed: true }] });
  }

  /** One turn, under one id until it is answered. @throws GaveUp when it never will be */
  async #turn(person: Person, body: object): Promise<readonly StreamedEvent[]> {
    const turnId = randomUUID();
    const events = await this.#through(async () => {
      const base = person.base();
      const answer = await this.#send(person, '/v1/chat', { turn_id: turnId, client: HANDSHAKE, ...body });
      if (answer.status >= 500 || answer.status === 429) return undefined;
      if (answer.status !== 200) throw new GaveUp();
      const all = parseEvents(await answer.text());
      const refusal = all.find(({ type }) => type === 'error');
      if (refusal !== undefined && refusal.retryable !== true) throw new GaveUp();
      const end = all.at(-1);
      if (refusal !== undefined || end?.type !== 'turn.end' || end.status === 'error') return undefined;
      this.#firstTurns.push({ base, atMs: Date.now() });
      return all;
    });
    this.#note('turn', turnId);
    return events;
  }

  #send(person: Person, path: string, body: object): Promise<Response> {
    const headers = {
      'X-Service-Key': person.key ?? this.#key,
      'X-Service-Device': person.device,
      'X-Service-User-Token': 'person',
      'Content-Type': 'application/json',
    };
    const signal = AbortSignal.timeout(REQUEST_MAX_MS);
    return fetch(`${person.base()}${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal });
  }

  /** The same again until it is answered, or the drill is over. @throws GaveUp */
  async #through<Value>(attempt: () => Promise<Value | undefined>): Promise<Value> {
    while (!this.#stopped) {
      try {
        const value = await attempt();
        if (value !== undefined) return value;
      } catch (error) {
        if (error instanceof GaveUp) throw error;
        // The connection broke: nobody knows whether it was done.
      }
      await pause(RETRY_MS);
    }
    throw new GaveUp();
  }

  async #makeOrganisations(home: () => Host): Promise<void> {
    while (!this.#stopped) {
      await pause(ORGANISATION_EVERY_MS);
      const host = home();
      const turnId = randomUUID();
      try {
        const { appId, organisationId, liveKey: key } = await createTestApp(host.baseUrl, OPERATOR_TOKEN);
        const person = { key, device: randomUUID().replaceAll('-', ''), base: () => host.baseUrl };
        const body = { turn_id: turnId, client: HANDSHAKE, message: { text: 'Where is my order?' } };
        const said = await (await this.#send(person, '/v1/chat', body)).text();
        if (parseEvents(said).at(-1)?.status === 'completed') this.#note('organisation', organisationId, [appId, turnId]);
      } catch {
        // The host is away: the next one is made later.
      }
    }
  }
}
