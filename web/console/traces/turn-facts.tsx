/** What a turn cost, and what the model sent: read once the turn is over. */

import { useState } from 'preact/hooks';
import { useAsked } from '../api/asked-hook.ts';
import { appAddress, appPath } from '../app/app.ts';
import { Problem } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { usd } from '../usage/pace.ts';
import { askAgainCommand } from './ask-again.ts';

interface SentBlock {
  readonly id: string;
  readonly block_type: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly fallback_text?: string;
}

function BlockSent({ block: { block_type: type, body } }: { readonly block: SentBlock }) {
  const text = JSON.stringify(body, undefined, 2);
  return (
    <details class="call">
      <summary>
        <code>{type}</code> <small>{text.length.toLocaleString('en')} characters</small>
      </summary>
      <pre class="definition">{text}</pre>
      <CopyButton text={text} label="Copy as JSON" />
    </details>
  );
}

function BlocksSent({ blocks }: { readonly blocks: readonly SentBlock[] }) {
  if (blocks.length === 0) return null;
  return (
    <section class="blocks-sent" aria-label="What the model sent">
      <h3>What the model sent</h3>
      {blocks.map((block) => (
        <BlockSent key={block.id} block={block} />
      ))}
    </section>
  );
}

interface ShownPart {
  readonly title: string;
  readonly text: string;
  readonly tokens: number;
}

interface ShownAnswer {
  readonly shown: {
    readonly system: ShownPart;
    readonly definitions: readonly ShownPart[];
    readonly messages: readonly ShownPart[];
  };
}

const tokensOf = (parts: readonly ShownPart[]) => `about ${parts.reduce((sum, { tokens }) => sum + tokens, 0).toLocaleString('en')} tokens`;

function ShownParts({ name, parts }: { readonly name: string; readonly parts: readonly ShownPart[] }) {
  return (
    <details class="call">
      <summary>
        {name} <small>{tokensOf(parts)}</small>
      </summary>
      <pre class="definition">{parts.map(({ title, text }) => `[${title}]\n${text}`).join('\n\n')}</pre>
    </details>
  );
}

function ShownRequest({ path }: { readonly path: string }) {
  const { answer, error, reload } = useAsked<ShownAnswer>(path);
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (answer === undefined) return null;
  const { system, definitions, messages } = answer.shown;
  return (
    <>
      <p class="hint">
        The first request of the turn, made again from what is stored: {tokensOf([system, ...definitions, ...messages])}. Nothing is kept of
        the request itself, so the screen, state and language of the device and what is known of the person are missing; every component and
        the actions of the latest build are offered; texts, knowledge and what became of earlier calls are as of now.
      </p>
      <ShownParts name="Instructions" parts={[system]} />
      <ShownParts name={`${definitions.length} definitions`} parts={definitions} />
      <ShownParts name={`${messages.length} messages`} parts={messages} />
    </>
  );
}

/** Read when somebody opens it. */
function RequestShown({ path }: { readonly path: string }) {
  const [isOpen, open] = useState(false);
  return (
    <details class="call blocks-sent" onToggle={(event) => event.target === event.currentTarget && open(event.currentTarget.open)}>
      <summary>What the model was shown</summary>
      {isOpen && <ShownRequest path={path} />}
    </details>
  );
}

interface Spent {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}

interface TurnAnswer {
  readonly turn: {
    readonly turn_id: string;
    readonly conversation_id: string;
    readonly model: string;
    readonly spent: Spent | null;
    /** The person's words, with placeholders; null: the turn answered results of calls. */
    readonly said: string | null;
    readonly blocks: readonly SentBlock[];
  };
}

function SpentWords({ spent }: { readonly spent: Spent | null }) {
  if (spent === null) return <span>nothing was charged</span>;
  const { input_tokens: input, output_tokens: output, cost_usd: cost } = spent;
  return (
    <span>
      {input.toLocaleString('en')} tokens in, {output.toLocaleString('en')} out · {usd(cost)}
    </span>
  );
}

interface TurnFactsProps {
  readonly app: string;
  readonly turnId: string;
  readonly linksBack?: boolean;
}

export function TurnFacts({ app, turnId, linksBack = true }: TurnFactsProps) {
  const path = `${appPath(app)}/turns/${encodeURIComponent(turnId)}`;
  const { answer, error, reload } = useAsked<TurnAnswer>(path);
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (answer === undefined) return null;
  const { conversation_id: conversation, model, spent, said, blocks } = answer.turn;
  const there = `${appAddress(app, 'conversations')}/${encodeURIComponent(conversation)}?of=${encodeURIComponent(turnId)}`;
  return (
    <>
      <p class="row">
        <span>{model}</span>
        <SpentWords spent={spent} />
        {linksBack && <a href={there}>In its conversation</a>}
      </p>
      <RequestShown path={`${path}/shown`} />
      <BlocksSent blocks={blocks} />
      {said !== null && (
        <div class="row">
          <CopyButton text={askAgainCommand(location.origin, said)} label="Copy the question as curl" />
        </div>
      )}
    </>
  );
}
