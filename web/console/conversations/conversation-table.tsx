/** Conversations as rows. */
import { appAddress } from '../app/app.ts';
import { momentOf } from '../parts/times.ts';
import { type ConversationHead, signalOf } from './conversations.ts';

export function ConversationTable({ app, conversations }: { readonly app: string; readonly conversations: readonly ConversationHead[] }) {
  const base = appAddress(app, 'conversations');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys.
    <section class="scroll-x" aria-label="Rows" tabIndex={0}>
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Conversation</th>
            <th scope="col">Newest turn</th>
            <th scope="col">Person</th>
            <th scope="col" class="number">
              Messages
            </th>
            <th scope="col">Key</th>
            <th scope="col">Last said</th>
          </tr>
        </thead>
        <tbody>
          {conversations.map(({ id, title, turn_state: state, external_user_id: person, device, messages, channel, updated_at: at }) => (
            <tr key={id}>
              <th scope="row">
                <a class="clipped said-title" href={`${base}/${encodeURIComponent(id)}`}>
                  {title === '' ? 'Without words' : title}
                </a>
                <code class="said-id">{id}</code>
              </th>
              <td>{state !== null && <span class={`chip ${signalOf(state)}`}>{state.replaceAll('_', ' ')}</span>}</td>
              <td>
                {person === null ? (
                  <span class="line-note">{device === null ? 'no device' : `device …${device}`}</span>
                ) : (
                  <a class="clipped" href={`${base}?person=${encodeURIComponent(person)}`}>
                    {person}
                  </a>
                )}
              </td>
              <td class="number">{messages}</td>
              <td>{channel === 'live' ? 'live' : 'test'}</td>
              <td>{momentOf(at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
