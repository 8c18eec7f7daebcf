/** One app in storage of its own, and nodes that run its turns: everything is real but the model, which answers as it is told. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import pino from 'pino';
import * as v from 'valibot';
import { PlatformSpend } from '../../../actors/billing/platform-spend.ts';
import type { Position } from '../../../actors/frame-source.ts';
import { openRedaction } from '../../../actors/people/redaction.ts';
import type { Command } from '../../../actors/turns/command.ts';
import { type TurnFacts, type TurnOptions, type TurnPlace, turnFacts, turnServices, turnTools } from '../../../actors/turns/facts.ts';
import { LocalTurns } from '../../../actors/turns/local-turns.ts';
import type { Model, ModelFailure, ModelRequest, ModelSink, ToolCall } from '../../../assistant/models/model.ts';
import { priceTable } from '../../../assistant/prices.ts';
import type { AppSettingsPatch } from '../../../protocol/console/app-settings.ts';
import { chatRequest } from '../../../protocol/runtime/chat.ts';
import { readApp } from '../../../storage/apps/apps.ts';
import { hashManifest } from '../../../storage/apps/manifests.ts';
import type { Connection } from '../../../storage/sqlite/connection.ts';
import { HANDSHAKE } from '../../support/client.ts';
import { servingNode } from '../../support/node.ts';
import { type StoredApp, storeApp } from '../setup/app-in-storage.ts';
import { type Frame, readOn } from './fixture.ts';

export const NOW = Date.parse('2026-11-21T10:00:00.000Z');

/** One read of the client's, one write that a person has to confirm. */
const MANIFEST = {
  version: '1',
  actions: [
    { name: 'look_up', description: 'Looks a delivery up.', risk: 'read' },
    { name: 'cancel', description: 'Cancels a delivery.', risk: 'write' },
  ],
} as const;

/** What the model says to one request. */
export interface Saying {
  readonly text?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly failure?: ModelFailure;
  /** It says nothing before this settles. */
  readonly after?: Promise<void>;
}

/** Answers each request with what `say` makes of it; `asked` counts from 1. */
export class ScriptedModel implements Model {
  readonly name = 'scripted';
  readonly requests: ModelRequest[] = [];
  readonly #say: (asked: number, request: ModelRequest) => Saying;

  constructor(say: (asked: number, request: ModelRequest) => Saying) {
    this.#say = say;
  }

  stream(request: ModelRequest, sink: ModelSink) {
    this.requests.push(request);
    const said = this.#say(this.requests.length, request);
    let isAborted = false;
    void (said.after ?? Promise.resolve()).then(() =>
      setImmediate(() => {
        if (isAborted) return;
        if (said.text !== undefined) sink.text(said.text);
        const toolCalls = said.toolCalls ?? [];
        for (const call of toolCalls) sink.toolCallStarted(call);
        if (said.failure !== undefined) sink.failed(said.failure);
        else sink.finished({ reason: toolCalls.length > 0 ? 'tool_calls' : 'stop', toolCalls, usage: undefined });
      }),
    );
    return {
      pause() {},
      resume() {},
      abort() {
        isAborted = true;
      },
    };
  }

  async close(): Promise<void> {}
}

/** A promise, and what settles it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** All that is said from there on, to the end. */
export function readToEnd({ source, fromSeq }: Position): Promise<Frame[]> {
  const frames: Frame[] = [];
  let next = fromSeq;
  return new Promise((resolve) => {
    const read = () => {
      const slice = readOn(source, next, Number.MAX_SAFE_INTEGER);
      frames.push(...slice.frames);
      next = slice.nextSeq;
      if (!slice.ended) return;
      leave();
      resolve(frames);
    };
    const leave = source.subscribe(read);
    // Not now: it may have ended, and `leave` is not there yet.
    setImmediate(read);
  });
}

export interface World extends StoredApp {
  readonly db: Connection;
  /** A request of the same device to open a turn; its clock is NOW. */
  command(said: Readonly<Record<string, unknown>>, more?: Partial<Command>): Command;
  /** What a node called `self` has of its own. Each finds that the other does not answer. */
  services(self: string, model: Model, more?: Partial<TurnOptions>): TurnOptions;
  node(self: string, model: Model, more?: Partial<TurnOptions>): LocalTurns;
  /** This conversation, which is new or has no personal data, at a node called `here`. */
  place(model: Model, conversationId: string, isNew?: boolean): TurnPlace;
  /** What an attempt at a turn of it works with; nothing of it is committed. */
  facts(model: Model, conversationId: string, command: Command, more?: Partial<TurnFacts>): TurnFacts;
}

export async function turnsWorld(t: TestContext, settings: AppSettingsPatch = {}): Promise<World> {
  const stored = await storeApp(t, NOW, settings);
  const { appId, organisationId, storage } = stored;
  const db = storage.organisation(organisationId);
  const hashed = hashManifest(v.parse(v.any(), MANIFEST));
  await storage.write(organisationId, 'registerManifest', { ...hashed, appId, sdk: 'web/0.1.0', nowMs: NOW });
  const app = readApp(db, appId, organisationId);
  assert.ok(app !== undefined);
  const log = pino({ level: 'silent' });
  const place: World['place'] = (model, conversationId, isNew = false) => {
    const redaction = openRedaction({ storage, organisationId, conversationId, isNew, count: 0, regions: [] });
    return { services: turnServices(services('here', model)), conversationId, db, redaction, mayHaveCalls: !isNew };
  };
  const services: World['services'] = (self, model, more) => ({
    storage,
    model,
    prices: priceTable({ scripted: { input: 1, output: 1 } }),
    log,
    runAction: () => Promise.reject(new Error('no action runs here')),
    turnLossesMax: 2,
    node: servingNode(),
    ownership: { self, process: self, isLost: () => true, mayTake: () => true },
    billing: { platform: new PlatformSpend({ storage, log }, null, NOW), charged() {}, ended() {} },
    nowMs: () => NOW,
    noteDeadline() {},
    ...more,
  });
  return {
    ...stored,
    db,
    services,
    command(said, more) {
      const turnId = randomUUID();
      const body = v.parse(chatRequest, { turn_id: turnId, client: { ...HANDSHAKE, manifest_hash: hashed.hash }, ...said });
      const device = { app, appId, organisationId, channel: 'sandbox', deviceId: 'device', person: null } as const;
      const caller = { ...device, address: '127.0.0.1', minuteLeft: null };
      const asked = { turnId, fingerprint: JSON.stringify(said), requestId: 'r', purpose: 'person', body } as const;
      return { caller, person: null, userToken: '', ...asked, ...more };
    },
    place,
    facts(model, conversationId, command, more) {
      const here = place(model, conversationId);
      return turnFacts(here, { command, attachments: [], traits: null }, turnTools(here, command), {
        isNew: false,
        unstored: null,
        opened: null,
        messageId: 'msg_of_the_facts',
        work: { question: null, executions: [], lost: [], left: [], tellsWrite: false },
        ...more,
      });
    },
    node(self, model, more) {
      const turns = new LocalTurns(services(self, model, more));
      t.after(() => turns.close());
      return turns;
    },
  };
}
