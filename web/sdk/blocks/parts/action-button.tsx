/** Buttons of a block: each says, opens, copies, calls or writes. One whose target is none of its kind is not drawn. */
import type { ActionsBlock } from '../../../../types/assistant-runtime.d.ts';
import type { BlockSurroundings } from '../block-view.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { hrefOf, Link } from './link.tsx';

type Action = ActionsBlock['body']['buttons'][number];

const LINKED = { open_url: ['url', 'out'], call: ['phone', 'call'], email: ['email', 'email'] } as const satisfies Readonly<
  Record<string, readonly ['url' | 'phone' | 'email', IconName]>
>;

export function ActionButton({ action, around }: { readonly action: Action; readonly around: BlockSurroundings }) {
  const { kind, label, target, style = 'secondary' } = action;
  const className = `button is-${style}`;
  if (kind === 'copy') return <CopyButton class={className} text={target} label={label} around={around} />;
  if (kind === 'send' || kind === 'open_screen') {
    const press = () => (kind === 'send' ? around.ask.say(target) : around.ask.openScreen(target, {}));
    return (
      <button type="button" class={className} onClick={press}>
        <span>{label}</span>
        {kind === 'open_screen' ? <Icon name="next" class="is-way" /> : null}
      </button>
    );
  }
  const [addressKind, icon] = LINKED[kind];
  const href = hrefOf(addressKind, target);
  if (href === undefined) return null;
  return (
    <Link class={className} href={href} around={around} words={label}>
      {icon === 'out' ? null : <Icon name={icon} />}
      <span>{label}</span>
      {icon === 'out' ? <Icon name={icon} /> : null}
    </Link>
  );
}

export function ActionRow({ actions, around }: { readonly actions: readonly Action[] | undefined; readonly around: BlockSurroundings }) {
  if (actions === undefined || actions.length === 0) return null;
  return (
    <div class="buttons">
      {actions.map((action) => (
        <ActionButton key={`${action.kind} ${action.target} ${action.label}`} action={action} around={around} />
      ))}
    </div>
  );
}
