/** Where the time went, on one scale: a row for each span in the colour of what it went to, the slowest marked, each with what is known of it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Bar, msWords, type Scale, type Span, type SpanKind, tookOf } from './spans.ts';

/** What the colours say. */
const KINDS: Readonly<Record<SpanKind, string>> = {
  admit: 'admission',
  find: 'look-up',
  model: 'model',
  say: 'words',
  call: 'calls',
  commit: 'saved',
};

interface WaterfallProps {
  readonly spans: readonly Span[];
  readonly scale: Scale;
  readonly label: string;
  /** Where the playhead is, in Unix time; absent: there is none. */
  readonly atMs?: number;
  /** A row was chosen, which ended then. */
  readonly onMoment?: (ms: number) => void;
  /** Below the axis. */
  readonly children?: ComponentChildren;
}

export function Waterfall({ spans, scale, label, atMs, onMoment, children }: WaterfallProps) {
  const [open, choose] = useState<number>();
  const took = spans.map(tookOf);
  const slowest = spans.length > 1 ? took.indexOf(Math.max(...took)) : -1;
  const kinds = (Object.keys(KINDS) as SpanKind[]).filter((kind) => spans.some((span) => span.kind === kind));
  const toggle = (row: number, { bars }: Span) => {
    const last = bars.at(-1) ?? bars[0];
    choose(open === row ? undefined : row);
    onMoment?.(last.fromMs + last.tookMs);
  };
  return (
    <div class="waterfall">
      <ul class="waterfall-legend" aria-label="What the colours say">
        {kinds.map((kind) => (
          <li key={kind}>
            <svg width="10" height="10" aria-hidden="true">
              <rect width="10" height="10" rx="2" class={`span is-${kind}`} />
            </svg>
            {KINDS[kind]}
          </li>
        ))}
        {scale.cuts.length > 0 && <li class="waterfall-cut">{msWords(scale.cutMs)} in which nothing went on are left out</li>}
      </ul>
      <ol aria-label={label}>
        {spans.map((span, row) => (
          <SpanRow
            key={`${span.name} ${span.bars[0].fromMs} ${row}`}
            span={span}
            scale={scale}
            atMs={atMs}
            isSlowest={row === slowest}
            isOpen={row === open}
            onToggle={() => toggle(row, span)}
          />
        ))}
        <li class="span-foot">
          <div class="span-row is-whole">
            <span class="span-name">Total</span>
            <svg class="span-axis" aria-hidden="true">
              {scale.ticks.map(({ place, words }) => (
                <text key={place} x={percent(place)} y="12" class={place > 0.98 ? 'is-last' : place < 0.04 ? 'is-first' : ''}>
                  {words}
                </text>
              ))}
            </svg>
            <span class="span-time">{msWords(scale.wholeMs)}</span>
          </div>
          {children}
        </li>
      </ol>
    </div>
  );
}

/** What took no time is still to be seen. */
const BAR_MIN = 0.001;

const percent = (part: number) => `${(part * 100).toFixed(2)}%`;

interface SpanRowProps {
  readonly span: Span;
  readonly scale: Scale;
  readonly atMs: number | undefined;
  readonly isSlowest: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function SpanRow({ span, scale, atMs, isSlowest, isOpen, onToggle }: SpanRowProps) {
  const { name, note } = span;
  return (
    <li class={isSlowest ? 'span-item is-slowest' : 'span-item'}>
      <button type="button" class="span-row" aria-expanded={isOpen} onClick={onToggle}>
        <span class="span-name">
          <span class="clipped">
            {name} {note !== '' && <small>{note}</small>}
          </span>
          {isSlowest && <span class="chip">slowest</span>}
        </span>
        <Bars span={span} scale={scale} atMs={atMs} />
        <span class="span-time">{msWords(tookOf(span))}</span>
      </button>
      {isOpen && <Facts span={span} scale={scale} />}
    </li>
  );
}

function Bars({ span: { kind, bars }, scale, atMs }: Pick<SpanRowProps, 'span' | 'scale' | 'atMs'>) {
  return (
    <svg class="span-bars" aria-hidden="true">
      {scale.ticks.map(({ place }) => (
        <line key={place} x1={percent(place)} x2={percent(place)} y1="0" y2="100%" class="span-tick" />
      ))}
      {bars.map((bar) => (
        <BarBox key={bar.fromMs} bar={bar} kind={kind} scale={scale} />
      ))}
      {scale.cuts.map((place) => (
        <line key={place} x1={percent(place)} x2={percent(place)} y1="0" y2="100%" class="span-cut" />
      ))}
      {atMs !== undefined && <line x1={percent(scale.placeOf(atMs))} x2={percent(scale.placeOf(atMs))} y1="0" y2="100%" class="playhead" />}
    </svg>
  );
}

function BarBox({ bar: { fromMs, tookMs }, kind, scale }: { readonly bar: Bar; readonly kind: SpanKind; readonly scale: Scale }) {
  const from = scale.placeOf(fromMs);
  return (
    <rect
      x={percent(from)}
      y="7"
      width={percent(Math.max(scale.placeOf(fromMs + tookMs) - from, BAR_MIN))}
      height="12"
      rx="2"
      class={`span is-${kind}`}
    />
  );
}

function Facts({ span, scale }: Pick<SpanRowProps, 'span' | 'scale'>) {
  const facts = [
    ['Began', `${scale.clockOf(span.bars[0].fromMs)} after the beginning`],
    ['Share', `${Math.round((tookOf(span) / scale.wholeMs) * 100)} % of the time`],
    ...span.facts,
  ] as const;
  return (
    <dl class="span-facts">
      {facts.map(([what, words]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  );
}
