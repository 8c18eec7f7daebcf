/** Conversations as rows. */
import type { ConversationHead } from '../../../protocol/console/answers.ts';
import type { FailureCause } from '../../../protocol/runtime/states.ts';
import { appAddress } from '../app/app.ts';
import { StateChip } from '../parts/state-chip.tsx';
import { Scrolling, Table } from '../parts/table.tsx';
import { momentOf } from '../parts/times.ts';

const CAUSES: Readonly<Record<FailureCause['kind'], string>> = {
  busy: 'the model is busy',
  exhausted: 'the model’s quota or credit is used up',
  silent: 'the model said nothing in time',
  broken: 'the model’s server failed',
  misconfigured: 'the model is not set up correctly',
  refused: 'the model refused the request',
  empty: 'the model’s answer was empty',
  budget: 'the day’s budget was spent',
  interrupted: 'the service was interrupted',
  given_up: 'the service was interrupted again and again',
};

/** What codes of a connection say. */
const CONNECTIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at the model’s address',
  ENOTFOUND: 'the model’s address has no such name',
  EAI_AGAIN: 'the model’s address has no such name',
  ECONNRESET: 'the model’s server broke off',
  UND_ERR_SOCKET: 'the model’s server broke off',
  UND_ERR_CONNECT_TIMEOUT: 'the model’s server cannot be reached',
  ETIMEDOUT: 'the model’s server cannot be reached',
};

export function shortCause({ kind, status, code }: FailureCause): string {
  const words = (status === undefined && code !== undefined && CONNECTIONS[code]) || (CAUSES[kind] ?? kind);
  return [words, ...(status === undefined ? [] : [`status ${status}`]), ...(code === undefined ? [] : [code])].join(', ');
}

/** As the app names the person, or the end of the device's id. */
export function Person({ app, head }: { readonly app: string; readonly head: ConversationHead }) {
  const { external_user_id: person, device } = head;
  if (person === null) return <span class="line-note">{device === null ? 'no device' : `device …${device}`}</span>;
  return (
    <a class="clipped" href={`${appAddress(app, 'conversations')}?person=${encodeURIComponent(person)}`}>
      {person}
    </a>
  );
}

export function ConversationTable({ app, conversations }: { readonly app: string; readonly conversations: readonly ConversationHead[] }) {
  const base = appAddress(app, 'conversations');
  return (
    <Scrolling label="Rows">
      <Table
        look="list stacks"
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
                <code class="below is-id" title={id}>
                  {id}
                </code>
              </>
            ),
          },
          {
            title: 'Newest turn',
            of: ({ turn_state: state, turn_failure: failure }) =>
              state !== null && (
                <>
                  <StateChip state={state} /> {failure?.cause !== undefined && <small>{shortCause(failure.cause)}</small>}
                </>
              ),
            look: () => 'is-narrow',
          },
          {
            title: 'Person',
            of: (head) => <Person app={app} head={head} />,
          },
          { title: 'Messages', of: ({ messages }) => messages, look: 'number' },
          { title: 'Environment', of: ({ channel }) => (channel === 'live' ? 'live' : 'test') },
          { title: 'Last said', of: ({ updated_at: at }) => momentOf(at) },
        ]}
      />
    </Scrolling>
  );
}
