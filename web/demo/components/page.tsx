/** The page: a list of the components, the view's switches, and each component with its states. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { CATALOG } from '../../../protocol/catalog/catalog.ts';
import { PICTURES } from '../../../protocol/catalog/samples/sample.ts';
import { BlockDrawing } from '../../sdk/blocks/block-drawing.tsx';
import type { BlockAsks, BlockSurroundings, ComponentName } from '../../sdk/blocks/block-view.ts';
import { BLOCK_VIEWS } from '../../sdk/blocks/views.ts';
import { BLOCK_WORDS } from '../../sdk/blocks/words.ts';
import { proseFor } from '../../sdk/prose/prose.tsx';
import { DIRECTIONS, SCHEMES, type Stage, searchOf, stageOf, WIDTHS } from './stage.ts';
import { SAMPLE_NOW_MS, statesOf } from './states.ts';

const DRAWN_COMPONENTS = Object.keys(BLOCK_VIEWS) as ComponentName[];

/** Nothing is sent anywhere: what would be asked for is said below the title. */
function surroundings(tell: (what: string) => void, locale: string): BlockSurroundings {
  const ask: BlockAsks = {
    choose: (_block, ids, words, otherText) =>
      tell(`chose ${[...ids, ...(otherText === undefined ? [] : [otherText])].join(', ')}: “${words}”`),
    submit: (_block, values) => tell(`submitted ${JSON.stringify(values)}`),
    rate: (_block, value, comment) => tell(`rated ${value}${comment === undefined ? '' : `: “${comment}”`}`),
    confirm: (_id, typed) => tell(`confirmed${typed === undefined ? '' : `, typed “${typed}”`}`),
    decline: () => tell('declined'),
    edit: (_id, values) => tell(`changed ${JSON.stringify(values)}`),
    say: (text) => tell(`said “${text}”`),
    openScreen: (route, params) => tell(`opened the screen ${route} ${JSON.stringify(params)}`),
    openLink: () => false,
    copy: async (text) => {
      tell(`copied “${text}”`);
      return true;
    },
  };
  return {
    ask,
    words: BLOCK_WORDS,
    locale,
    now: () => SAMPLE_NOW_MS,
    Prose: proseFor({ ask, words: BLOCK_WORDS }),
    picture: (address) => (address.startsWith(PICTURES) ? `/demo/pictures/${address.slice(PICTURES.length)}` : address),
  };
}

interface SwitchProps<T extends string | number> {
  readonly label: string;
  readonly values: readonly T[];
  readonly value: T;
  readonly onValue: (value: T) => void;
}

function Switch<T extends string | number>({ label, values, value, onValue }: SwitchProps<T>) {
  return (
    <fieldset class="switch">
      <legend>{label}</legend>
      {values.map((each) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => onValue(each)}>
          {each}
        </button>
      ))}
    </fieldset>
  );
}

const sentence = (type: string) => CATALOG.get(type)?.description ?? '';

function Component({ type, around }: { readonly type: (typeof DRAWN_COMPONENTS)[number]; readonly around: BlockSurroundings }) {
  const states = useMemo(() => statesOf(type), [type]);
  return (
    <section class="component" id={type} aria-labelledby={`${type}-title`}>
      <h2 id={`${type}-title`}>
        <a href={`#${type}`}>{type}</a>
      </h2>
      <p>{sentence(type)}</p>
      <div class="states">
        {states.map(({ name, ...state }) => (
          <figure key={name}>
            <figcaption>{name}</figcaption>
            <div class="state">
              <BlockDrawing {...state} around={around} />
            </div>
          </figure>
        ))}
      </div>
    </section>
  );
}

export function Page() {
  const [stage, setStage] = useState(() => stageOf(location.search));
  const [told, setTold] = useState('');
  const locale = stage.direction === 'rtl' ? 'ar' : 'en';
  const around = useMemo(() => surroundings(setTold, locale), [locale]);
  const change = (part: Partial<Stage>) => setStage((before) => ({ ...before, ...part }));
  useEffect(() => {
    const { scheme, direction, width } = stage;
    const root = document.documentElement;
    root.dataset.scheme = scheme;
    root.dataset.width = String(width);
    root.dir = direction;
    const address = `${location.pathname}${searchOf(stage)}${location.hash}`;
    history.replaceState(null, '', address);
  }, [stage]);
  return (
    <>
      <header>
        <div>
          <h1>Components</h1>
          <p>What the assistant can show, in every state, as the widget draws it.</p>
        </div>
        <Switch label="Scheme" values={SCHEMES} value={stage.scheme} onValue={(scheme) => change({ scheme })} />
        <Switch label="Direction" values={DIRECTIONS} value={stage.direction} onValue={(direction) => change({ direction })} />
        <Switch label="Width" values={WIDTHS} value={stage.width} onValue={(width) => change({ width })} />
      </header>
      <nav aria-label="Components">
        <ul>
          {DRAWN_COMPONENTS.map((type) => (
            <li key={type}>
              <a href={`#${type}`}>{type}</a>
            </li>
          ))}
        </ul>
        <a href="/demo">The demo shop</a>
      </nav>
      <main>
        {DRAWN_COMPONENTS.map((type) => (
          <Component key={type} type={type} around={around} />
        ))}
      </main>
      <p class="told" role="status">
        {told}
      </p>
    </>
  );
}
