/** Conversations as rows. */
import type { ConversationHead } from '../../../protocol/console/answers.ts';
import { appAddress } from '../app/app.ts';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';

const SIGNALS: Readonly<Record<string, string>> = {
  completed: 'is-ok',
  succeeded: 'is-ok',
  failed: 'is-bad',
  expired: 'is-bad',
  declined: '',
};

export function signalOf(state: string): string {
  return SIGNALS[state] ?? 'is-wait';
}

export function ConversationTable({ app, conversations }: { readonly app: string; readonly conversations: readonly ConversationHead[] }) {
  const base = appAddress(app, 'conversations');
  return (
    <Scrolling label="Rows">
      <Table
        rows={conversations}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Conversation',
            of: ({ id, title }) => (
              <>
                <a class="clipped said-title" href={`${base}/${encodeURIComponent(id)}`}>
                  {title === '' ? 'Without words' : title}
                </a>
                <code class="said-id">{id}</code>
              </>
            ),
          },
          {
            title: 'Newest turn',
            of: ({ turn_state: state }) => state !== null && <span class={`chip ${signalOf(state)}`}>{state.replaceAll('_', ' ')}</span>,
          },
          {
            title: 'Person',
            of: ({ external_user_id: person, device }) =>
              person === null ? (
                <span class="line-note">{device === null ? 'no device' : `device …${device}`}</span>
              ) : (
                <a class="clipped" href={`${base}?person=${encodeURIComponent(person)}`}>
                  {person}
                </a>
              ),
          },
          { title: 'Messages', of: ({ messages }) => messages, look: 'number' },
          { title: 'Key', of: ({ channel }) => (channel === 'live' ? 'live' : 'test') },
          { title: 'Last said', of: ({ updated_at: at }) => momentOf(at) },
        ]}
      />
    </Scrolling>
  );
}
