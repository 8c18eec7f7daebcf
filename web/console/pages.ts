/**
 * The pages of the console. To add one, write its file and one line here: what is listed is routed, and what has a group is in the
 * navigation, in this order. Pages of an app have their line in app/app.ts instead.
 */
import type { ComponentType } from 'preact';
import { lazy } from 'preact-iso';

/** Headings of the navigation, in their order; '' has none. */
export const GROUPS = ['', 'The service'] as const;

interface PageEntry {
  readonly path: string;
  readonly component: ComponentType;
  /** Its line in the navigation; absent: it is reached from another page. */
  readonly label?: string;
  readonly group?: (typeof GROUPS)[number];
}

function page(path: string, load: () => Promise<ComponentType>, line: Pick<PageEntry, 'label' | 'group'> = {}): PageEntry {
  return { path, component: lazy(load), ...line };
}

export const PAGES: readonly PageEntry[] = [
  page('/console', async () => (await import('./overview/overview-page.tsx')).OverviewPage, { label: 'Overview', group: '' }),
  page('/console/orgs/:org', async () => (await import('./organisations/organisation-page.tsx')).OrganisationPage),
  page('/console/apps/:app', async () => (await import('./app/app-overview-page.tsx')).AppOverviewPage),
  page('/console/apps/:app/actions', async () => (await import('./actions/actions-page.tsx')).ActionsPage),
  page('/console/apps/:app/go-live', async () => (await import('./go-live/go-live-page.tsx')).GoLivePage),
  page('/console/apps/:app/proposals', async () => (await import('./proposals/proposals-page.tsx')).ProposalsPage),
  page('/console/apps/:app/test', async () => (await import('./trial/trial-page.tsx')).TrialPage),
  page('/console/apps/:app/setup', async () => (await import('./setup/setup-page.tsx')).SetupPage),
  page('/console/apps/:app/appearance', async () => (await import('./appearance/appearance-page.tsx')).AppearancePage),
  page('/console/apps/:app/assistant', async () => (await import('./assistant/assistant-page.tsx')).AssistantPage),
  page('/console/apps/:app/knowledge', async () => (await import('./knowledge/knowledge-page.tsx')).KnowledgePage),
  page('/console/apps/:app/conversations', async () => (await import('./conversations/conversations-page.tsx')).ConversationsPage),
  page(
    '/console/apps/:app/conversations/:conversation',
    async () => (await import('./conversations/conversation-page.tsx')).ConversationPage,
  ),
  page('/console/apps/:app/usage', async () => (await import('./usage/app-usage-page.tsx')).AppUsagePage),
  page('/console/orgs/:org/usage', async () => (await import('./usage/organisation-usage-page.tsx')).OrganisationUsagePage),
  page('/console/apps/:app/settings', async () => (await import('./settings/settings-page.tsx')).SettingsPage),
  page('/console/nodes', async () => (await import('./nodes/nodes-page.tsx')).NodesPage, { label: 'Nodes', group: 'The service' }),
  page('/console/machines', async () => (await import('./machines/machines-page.tsx')).MachinesPage, {
    label: 'Machines',
    group: 'The service',
  }),
  page('/console/traces', async () => (await import('./traces/traces-page.tsx')).TracesPage, { label: 'Traces', group: 'The service' }),
  page('/console/traces/file', async () => (await import('./traces/trace-file-page.tsx')).TraceFilePage),
  page('/console/traces/moves/:org', async () => (await import('./traces/trace-page.tsx')).MoveTracePage),
  page('/console/traces/:app', async () => (await import('./traces/trace-page.tsx')).TracePage),
  page('/console/machines/:name', async () => (await import('./machines/machine-page.tsx')).MachinePage),
];
