/**
 * The demo app of a first start: the assistant of a small shop, which knows what the shop says of itself. Made once per data directory;
 * what a person changes in it afterwards stays changed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type KnowledgeServices, takeInKnowledge } from '../actors/configuration/knowledge.ts';
import { mintId } from '../protocol/ids.ts';
import { completeManifest, type Manifest, type PostedManifest } from '../protocol/runtime/manifest.ts';
import { clip } from '../protocol/schema/text.ts';
import { createApp } from '../storage/apps/app-creation.ts';
import { readApp } from '../storage/apps/apps.ts';
import { hashManifest } from '../storage/apps/manifests.ts';
import { readInstallation } from '../storage/organisations/installation.ts';
import { listKeys, organisationOfApp } from '../storage/organisations/organisations.ts';
import type { Storage } from '../storage/storage.ts';
import type { DemoKeys } from './banner.ts';

/** What the shop says of itself, beside the package's sources, compiled (dist) or not. */
const KNOWLEDGE = [new URL('../../web/demo/knowledge/', import.meta.url), new URL('../web/demo/knowledge/', import.meta.url)];
const INSTALLED = 'demo_app';
/** Everybody who tries the demo shares one device. */
const MESSAGES_PER_MINUTE = 120;
const MESSAGES_PER_DAY = 10_000;
/** Where others than this machine's users reach it: enough to show it around, and no bill that hurts. */
const EXPOSED_BUDGET = { messages_per_day: 200, daily_model_budget_usd: 1 };

/** What the demo's client can do: one thing to look up, one that needs a person's yes. */
export const DEMO_MANIFEST: PostedManifest = {
  version: '1',
  actions: [
    {
      name: 'get_order_status',
      description: 'Looks up where an order is. Call it when the person asks about the status or delivery of an order.',
      risk: 'read',
      params: { order_id: { type: 'string', description: 'Number of the order, such as A-1042', required: true } },
      timeoutMs: 10_000,
    },
    {
      name: 'cancel_order',
      description: 'Cancels an order. Call it when the person asks to cancel an order.',
      risk: 'write',
      params: { order_id: { type: 'string', description: 'Number of the order, such as A-1042', required: true } },
      confirm_template: 'Cancel order {order_id}? This cannot be undone.',
      timeoutMs: 10_000,
    },
  ],
};

const PERSONA = {
  assistantName: 'Ada',
  tone: 'Friendly, brief and exact.',
  instructions: 'Help people in the demo shop: what to buy, their cart, orders and returns, shipping, brewing and care.',
  guardrails: 'Never invent a price, a date or a rule of the shop.\nOffer nothing that the shop does not sell.',
  languages: ['en'],
  welcomeTitle: 'How can I help?',
  welcomeBody: 'I know the shop, what it sells, and your orders.',
  suggestions: ['Where is my order?', 'Compare the kettles', 'How long does delivery take?'],
};

function titleOf(markdown: string, name: string): string {
  return clip(/^#\s+(.+)$/m.exec(markdown)?.[1] ?? name, 160);
}

/** @throws Error when none are found. */
function documents(): { key: string; title: string; content: string }[] {
  for (const folder of KNOWLEDGE) {
    try {
      const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
      if (names.length === 0) continue;
      return names.sort().map((name) => {
        const content = readFileSync(new URL(name, folder), 'utf8');
        return { key: `shop/${name}`, title: titleOf(content, name), content };
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error('What the demo app answers from is missing (web/demo/knowledge/*.md). Set DEMO=off to start without the demo.');
}

function keysOf(storage: Storage, appId: string): DemoKeys | undefined {
  const keys = listKeys(storage.control, appId);
  const live = keys.find((key) => key.channel === 'live')?.token;
  const test = keys.find((key) => key.channel === 'sandbox')?.token;
  return live === undefined || test === undefined ? undefined : { live, test };
}

/** Its page is the service's own, which needs no entry (DEMO-5). With none at all the console would take it for blocked: this name leads to the browser's own machine alone. */
const OWN_HOSTS = ['demo.localhost'];

async function createDemo(services: KnowledgeServices): Promise<DemoKeys | undefined> {
  const { storage } = services;
  const nowMs = services.nowMs();
  const organisationId = mintId('org', nowMs);
  await storage.writeControl('createOrganisation', {
    id: organisationId,
    name: 'Demo',
    plan: 'free',
    members: [],
    autoTopUp: { enabled: false, amount_usd: 10 },
    nowMs,
  });
  const { app, keys } = await createApp(storage, {
    organisationId,
    name: 'Kettle shop',
    platformHint: 'web',
    settings: { messages_per_minute: MESSAGES_PER_MINUTE, messages_per_day: MESSAGES_PER_DAY, allowed_domains: OWN_HOSTS },
    nowMs,
  });
  const items = documents().map(({ key, title, content }) => ({ external_key: key, kind: 'text' as const, title, content }));
  await takeInKnowledge(services, { organisationId, appId: app.id, origin: 'demo' }, items);
  await storage.write(organisationId, 'saveExperienceDraft', { appId: app.id, patch: PERSONA, origin: 'demo', nowMs });
  await storage.write(organisationId, 'publishDrafts', { appId: app.id, nowMs });
  const hashed = hashManifest(DEMO_MANIFEST);
  await storage.write(organisationId, 'registerManifest', { ...hashed, appId: app.id, sdk: 'web/0.50.0', nowMs });
  await storage.write(organisationId, 'goLive', { appId: app.id, organisationId, nowMs });
  // Last: a start that is interrupted before this makes a new demo, and nobody knows the keys of the unfinished one.
  const settled = await storage.writeControl('settleInstallation', { name: INSTALLED, value: app.id });
  // Nodes start one after the other. If another one has made a demo all the same, its keys are used.
  return settled === app.id ? keys : keysOf(storage, settled);
}

/** The keys of the demo app, which is created on the first start; undefined when a person has deleted it or its keys. */
export async function prepareDemo(services: KnowledgeServices): Promise<DemoKeys | undefined> {
  const appId = readInstallation(services.storage.control, INSTALLED);
  return appId === undefined ? createDemo(services) : keysOf(services.storage, appId);
}

/** Gives the demo app its small budget of a day (RUN-4), unless a person has changed what it may use. With the demo off its keys still answer. */
export async function boundDemo({ storage, nowMs }: KnowledgeServices): Promise<void> {
  const appId = readInstallation(storage.control, INSTALLED);
  const organisationId = appId === undefined ? undefined : organisationOfApp(storage.control, appId);
  if (appId === undefined || organisationId === undefined) return;
  const settings = readApp(storage.organisation(organisationId), appId, organisationId)?.settings;
  if (settings?.messagesPerDay !== MESSAGES_PER_DAY || settings.dailyModelBudgetUsd !== null) return;
  await storage.write(organisationId, 'patchApp', { appId, organisationId, patch: EXPOSED_BUDGET, nowMs: nowMs() });
}

/** The demo's manifest for its clients that name none, such as a line of `curl`: they need not register one first. */
export function demoManifests(storage: Storage): (appId: string) => { readonly hash: string; readonly document: Manifest } | undefined {
  const manifest = { hash: hashManifest(DEMO_MANIFEST).hash, document: completeManifest(DEMO_MANIFEST) };
  let demo: string | undefined;
  return (appId) => {
    // Noted once and never changed.
    demo ??= readInstallation(storage.control, INSTALLED);
    return demo === appId ? manifest : undefined;
  };
}
