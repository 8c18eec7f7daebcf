/**
 * The pages of the console. To add one, write its file and one line here: what is listed is routed, and what has a group is in the
 * navigation, in this order. Pages of an app have their line in app/sections.ts instead.
 */
import type { ComponentType } from 'preact';
import { lazy } from 'preact-iso';

/** Headings of the navigation, in their order; '' has none. */
export const GROUPS = ['', 'What it is', 'What it does', 'How it thinks'] as const;

export interface PageEntry {
  /** As preact-iso matches it. */
  readonly path: string;
  readonly component: ComponentType;
  /** Its line in the navigation; absent: it is reached from another page. */
  readonly label?: string;
  readonly group?: (typeof GROUPS)[number];
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/console',
    label: 'Overview',
    group: '',
    component: lazy(async () => (await import('./overview/overview-page.tsx')).OverviewPage),
  },
  { path: '/console/orgs/:org', component: lazy(async () => (await import('./organisations/organisation-page.tsx')).OrganisationPage) },
  {
    path: '/console/apps/:app',
    component: lazy(async () => (await import('./app/app-overview-page.tsx')).AppOverviewPage),
  },
  { path: '/console/apps/:app/actions', component: lazy(async () => (await import('./actions/actions-page.tsx')).ActionsPage) },
  { path: '/console/apps/:app/go-live', component: lazy(async () => (await import('./go-live/go-live-page.tsx')).GoLivePage) },
  { path: '/console/apps/:app/proposals', component: lazy(async () => (await import('./proposals/proposals-page.tsx')).ProposalsPage) },
  { path: '/console/apps/:app/test', component: lazy(async () => (await import('./trial/trial-page.tsx')).TrialPage) },
  { path: '/console/apps/:app/setup', component: lazy(async () => (await import('./setup/setup-page.tsx')).SetupPage) },
  {
    path: '/console/apps/:app/appearance',
    component: lazy(async () => (await import('./appearance/appearance-page.tsx')).AppearancePage),
  },
  { path: '/console/apps/:app/assistant', component: lazy(async () => (await import('./assistant/assistant-page.tsx')).AssistantPage) },
  { path: '/console/apps/:app/knowledge', component: lazy(async () => (await import('./knowledge/knowledge-page.tsx')).KnowledgePage) },
  {
    path: '/console/apps/:app/conversations',
    component: lazy(async () => (await import('./conversations/conversations-page.tsx')).ConversationsPage),
  },
  {
    path: '/console/apps/:app/conversations/:conversation',
    component: lazy(async () => (await import('./conversations/conversation-page.tsx')).ConversationPage),
  },
  { path: '/console/apps/:app/usage', component: lazy(async () => (await import('./usage/app-usage-page.tsx')).AppUsagePage) },
  {
    path: '/console/orgs/:org/usage',
    component: lazy(async () => (await import('./usage/organisation-usage-page.tsx')).OrganisationUsagePage),
  },
  { path: '/console/apps/:app/settings', component: lazy(async () => (await import('./settings/settings-page.tsx')).SettingsPage) },
  {
    path: '/console/nodes',
    label: 'Nodes',
    group: 'What it does',
    component: lazy(async () => (await import('./nodes/nodes-page.tsx')).NodesPage),
  },
  {
    path: '/console/machines',
    label: 'Machines',
    group: 'How it thinks',
    component: lazy(async () => (await import('./machines/machines-page.tsx')).MachinesPage),
  },
  {
    path: '/console/traces',
    label: 'Traces',
    group: 'How it thinks',
    component: lazy(async () => (await import('./traces/traces-page.tsx')).TracesPage),
  },
  { path: '/console/traces/file', component: lazy(async () => (await import('./traces/trace-file-page.tsx')).TraceFilePage) },
  {
    path: '/console/traces/moves/:org',
    component: lazy(async () => (await import('./traces/trace-page.tsx')).MoveTracePage),
  },
  { path: '/console/traces/:app', component: lazy(async () => (await import('./traces/trace-page.tsx')).TracePage) },
  { path: '/console/machines/:name', component: lazy(async () => (await import('./machines/machine-page.tsx')).MachinePage) },
];
