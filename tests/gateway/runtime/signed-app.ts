/** People of an app under test: their signatures as its backend would make them, and what the console says of them. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { KeptFailure } from '../../../protocol/runtime/states.ts';
import { type Client, createClient, createOperator, type StreamAnswer, type TestApp } from '../../support/client.ts';
import type { RunningService } from '../../support/service.ts';
import type { ScriptedChat } from './scripted-chat.ts';

export interface ExportedPerson {
  readonly truncated: boolean;
  readonly end_user: { readonly id: string; readonly external_user_id: string; readonly channel: string; readonly verified: boolean };
  readonly traits: Readonly<Record<string, unknown>>;
  readonly device_traits: readonly { readonly device_id: string; readonly traits: Readonly<Record<string, unknown>> }[];
  readonly devices: readonly { readonly device_id: string; readonly proven: boolean }[];
  readonly conversations: readonly {
    readonly conversation_id: string;
    readonly messages: readonly {
      readonly role: string;
      readonly blocks: readonly { readonly body: Readonly<Record<string, unknown>> }[];
      readonly failure?: KeptFailure;
    }[];
    readonly feedback: readonly unknown[];
    readonly ratings: readonly unknown[];
  }[];
}

export interface SignedApp {
  readonly app: TestApp;
  /** The app's backend: the signature of a user id. */
  sign(userId: string): string;
  /** An installation of the app, on a live key unless told. */
  device(deviceId: string, key?: string): Client;
  /** One that nobody has used yet. */
  newDevice(): Client;
  operator(method: string, path: string, body?: unknown): ReturnType<ReturnType<typeof createOperator>>;
  /** What the console exports of a person. */
  exported(endUserId: string): Promise<ExportedPerson>;
}

export async function signedApp(service: RunningService, app: TestApp): Promise<SignedApp> {
  const call = createOperator(service.baseUrl, service.operatorToken);
  const operator: SignedApp['operator'] = (method, path, body) => call(method, `/apps/${app.appId}${path}`, body);
  const { identity_secret: secret } = (await operator('GET', '/identity-secret')).json as { identity_secret: string };
  const device = (deviceId: string, key = app.liveKey) => createClient(service.baseUrl, key, deviceId);
  let devices = 0;
  return {
    app,
    sign: (userId) => createHmac('sha256', secret).update(userId).digest('hex'),
    device,
    newDevice: () => device((devices++).toString(16).padStart(32, '0')),
    operator,
    async exported(endUserId) {
      const answer = await operator('GET', `/end-users/${endUserId}/export`);
      assert.equal(answer.status, 200, answer.text);
      return answer.json as ExportedPerson;
    },
  };
}

export const conversationOf = ({ events, text }: StreamAnswer): string => {
  assert.equal(events[0]?.type, 'turn.start', text);
  return String(events[0]?.conversation_id);
};

/** A person says something and is answered `Yes.`; returns the conversation. */
export async function say(chat: ScriptedChat, client: Client, text: string, more: Record<string, unknown> = {}): Promise<string> {
  chat.script([{ text: 'Yes.' }]);
  return conversationOf(await client.say(text, more));
}

/** Ids of the messages that a device is shown of a conversation. */
export async function shown(client: Client, conversationId: string): Promise<readonly string[]> {
  const answer = await client.send('GET', `/v1/conversations/${conversationId}/messages`);
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { messages: { id: string }[] }).messages.map(({ id }) => id);
}
