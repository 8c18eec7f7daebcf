/** What is painted of a picture: its coordinates were made when building, here states and lines are only lit. */
import { edgePath } from '../../../machines/diagrams/edge-path.ts';
import {
  FOOT_PX,
  INSET_PX,
  inBrackets,
  LINE_PX,
  NAME_BOTTOM_PX,
  NAME_FOOT_PX,
  RIM_PX,
  textWidth,
} from '../../../machines/diagrams/text.ts';
import type { MachineOutline, PictureEdge, PictureState } from '../../../machines/picture.ts';
import { edgeKey, type Hits, rowKey, tintOf } from './coverage.ts';
import { type Highlights, isLabelOf } from './highlights.ts';

const COUNT_PX = 12;
/** Transitions before the last one that are told apart. */
const TRAIL_LOOKS = 4;

interface PaintingProps {
  readonly drawn: MachineOutline;
  readonly highlights: Highlights;
  readonly hits: Hits | undefined;
  /** Names of the instances in each state; absent: there is one, where `highlights` says. */
  readonly places: ReadonlyMap<string, readonly string[]> | undefined;
  readonly onState: ((state: string) => void) | undefined;
}

export function Painting({ drawn, highlights, hits, places, onState }: PaintingProps) {
  const around = new Set(drawn.states.flatMap(({ parent }) => parent ?? []));
  const outer = drawn.states.filter(({ id }) => around.has(id));
  const inner = drawn.states.filter(({ id }) => !around.has(id));
  // What was taken lies over what was not.
  const edges = drawn.edges.toSorted((one, other) => rank(ageOf({ edge: other, highlights })) - rank(ageOf({ edge: one, highlights })));
  return (
    <>
      <Arrows />
      {outer.map((state) => (
        <StateBox key={state.id} state={state} isOuter highlights={highlights} hits={hits} onState={undefined} />
      ))}
      {edges.map((edge) => (
        <EdgeLine key={`${edge.from} ${edge.to}`} edge={edge} highlights={highlights} hits={hits} />
      ))}
      {drawn.start.map(({ x, y, to, points }) => (
        <g key={to}>
          <path d={edgePath(points)} class="edge" marker-end="url(#arrow)" />
          <circle cx={x} cy={y} r={5} class="start-dot" />
        </g>
      ))}
      {edges.map((edge) => (
        <EdgeLabels key={`${edge.from} ${edge.to}`} edge={edge} highlights={highlights} hits={hits} />
      ))}
      {inner.map((state) => (
        <StateBox key={state.id} state={state} isOuter={false} highlights={highlights} hits={hits} onState={onState} />
      ))}
      {inner.map((state) => (
        <Ring key={state.id} state={state} names={places?.get(state.id) ?? []} />
      ))}
    </>
  );
}

const rank = (age: number) => (age < 0 ? Number.POSITIVE_INFINITY : age);

/** What of an edge of an outline is drawn in the room for a count. */
const isOutline = ({ labels }: PictureEdge) => labels[0]?.event === '';

/** Heads of arrows, by what a line is; a marker does not take the colour of its line everywhere. */
function Arrows() {
  return (
    <defs>
      {['arrow', 'arrow-lit', 'arrow-trail'].map((id) => (
        <marker
          key={id}
          id={id}
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerUnits="userSpaceOnUse"
          markerWidth="9"
          markerHeight="9"
          orient="auto"
        >
          <path d="M0 0 8 4 0 8z" class={id} />
        </marker>
      ))}
    </defs>
  );
}

interface EdgeProps {
  readonly edge: PictureEdge;
  readonly highlights: Highlights;
  readonly hits: Hits | undefined;
}

/** How many transitions ago the edge was taken, 0 for the last one; below 0: it was not, or long ago. */
function ageOf({ edge, highlights }: Pick<EdgeProps, 'edge' | 'highlights'>): number {
  return highlights.trail.findIndex(({ from, to }) => from === edge.from && to === edge.to);
}

function EdgeLine(props: EdgeProps) {
  const age = ageOf(props);
  const count = props.hits === undefined ? undefined : edgeHits(props.edge, props.hits);
  const hit = hitLook(count);
  const look = age < 0 ? hit : age === 0 ? ' is-lit' : ` is-trail is-trail-${Math.min(age, TRAIL_LOOKS)}`;
  const arrow = age < 0 ? (count !== undefined && count > 0 ? 'arrow-lit' : 'arrow') : age === 0 ? 'arrow-lit' : 'arrow-trail';
  return (
    <path d={edgePath(props.edge.points)} class={`edge${look}`} marker-end={`url(#${arrow})`}>
      <title>{`${props.edge.from} → ${props.edge.to}`}</title>
    </path>
  );
}

function edgeHits({ from, to }: PictureEdge, { edges }: Hits): number {
  return [...edges].reduce((sum, [key, count]) => (key.startsWith(`${from} `) && key.endsWith(` ${to}`) ? sum + count : sum), 0);
}

/** ' is-hit-2', ' is-never', or '' where nobody counted. */
function hitLook(count: number | undefined): string {
  if (count === undefined) return '';
  return count === 0 ? ' is-never' : ` is-hit-${tintOf(count)}`;
}

/** Guards of one event that lead to the same state are counted together, at the first. */
function isFirst(labels: readonly { readonly event: string }[], index: number): boolean {
  return labels.findIndex(({ event }) => event === labels[index]?.event) === index;
}

function Ring({ state: { id, x, y, width, height }, names }: { readonly state: PictureState; readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  const gap = 2 * RIM_PX;
  return (
    <g class="ring">
      <title>{`${id}: ${names.join(' ')}`}</title>
      <rect x={x - gap} y={y - gap} width={width + 2 * gap} height={height + 2 * gap} rx={10} class="ring-line" />
      <HitCount count={names.length} x={x + width} y={y - gap - COUNT_PX / 2} />
    </g>
  );
}

function HitCount({ count, x, y }: { readonly count: number | undefined; readonly x: number; readonly y: number }) {
  return count === undefined || count === 0 ? null : <Badge words={`${count}×`} x={x} y={y} />;
}

const badgeWidth = (words: string) => textWidth(words, COUNT_PX) + 8;

function Badge({ words, x, y }: { readonly words: string; readonly x: number; readonly y: number }) {
  const width = badgeWidth(words);
  return (
    <g class="hit-count">
      <rect x={x} y={y} width={width} height={COUNT_PX + 4} rx={6} />
      <text x={x + width / 2} y={y + COUNT_PX}>
        {words}
      </text>
    </g>
  );
}

/** Above every line, so that none runs through a word. */
function EdgeLabels(props: EdgeProps) {
  if (isOutline(props.edge)) return <OutlineCount {...props} />;
  const age = ageOf(props);
  const taken = props.highlights.trail[age];
  const last = age === 0 ? taken : undefined;
  const { from, to } = props.edge;
  const countOf = (event: string) => (props.hits === undefined ? undefined : (props.hits.edges.get(edgeKey(from, event, to)) ?? 0));
  return (
    <>
      {props.edge.labels.map(({ x, y, width, ...label }, index) => (
        <g key={`${label.event} ${label.guard ?? ''}`} class={`label${isLabelOf(label, last) ? ' is-lit' : hitLook(countOf(label.event))}`}>
          <rect x={x} y={y} width={width} height={label.guard === undefined ? LINE_PX : 2 * LINE_PX} class="label-ground" />
          <text x={x + width / 2} y={y + FOOT_PX} class="label-event">
            {label.event}
          </text>
          {label.guard !== undefined && (
            <text x={x + width / 2} y={y + LINE_PX + FOOT_PX} class="label-guard">
              {inBrackets(label.guard)}
            </text>
          )}
          {isFirst(props.edge.labels, index) && <HitCount count={countOf(label.event)} x={x + width + 1} y={y} />}
          {taken !== undefined && isLabelOf(label, taken) && <Badge words={String(taken.at)} x={x + width + 1} y={y} />}
        </g>
      ))}
    </>
  );
}

/** How often the edge was hit, or at which step it was taken last. */
function OutlineCount({ edge, highlights, hits }: EdgeProps) {
  const [room] = edge.labels;
  const taken = highlights.trail[ageOf({ edge, highlights })]?.at;
  const hit = hits === undefined ? 0 : edgeHits(edge, hits);
  const words = hit > 0 ? `${hit}×` : taken === undefined ? '' : String(taken);
  if (room === undefined || words === '') return null;
  return <Badge words={words} x={room.x + (room.width - badgeWidth(words)) / 2} y={room.y - 1} />;
}

interface StateBoxProps {
  readonly state: PictureState;
  readonly isOuter: boolean;
  readonly highlights: Highlights;
  readonly hits: Hits | undefined;
  readonly onState: ((state: string) => void) | undefined;
}

function classOf({ state, isOuter, highlights, hits }: StateBoxProps): string {
  const isIn = isOuter ? [...highlights.active].some((id) => id.startsWith(`${state.id}.`)) : highlights.active.has(state.id);
  const hit = hits !== undefined && (hits.states.has(state.id) ? 'is-hit' : 'is-never');
  return ['state', isOuter && 'is-outer', isIn && 'is-active', state.label === 'failed' && 'is-bad', hit]
    .filter((name) => name !== false)
    .join(' ');
}

function StateBox(props: StateBoxProps) {
  const { state, isOuter, highlights, hits, onState } = props;
  const { id, label, x, y, width, height, final, rows } = state;
  const hasTitleOnTop = isOuter || rows.length > 0;
  const body = (
    <>
      <rect x={x} y={y} width={width} height={height} rx={7} class="state-box" />
      {final && <rect x={x + RIM_PX} y={y + RIM_PX} width={width - 2 * RIM_PX} height={height - 2 * RIM_PX} rx={4} class="state-rim" />}
      {hasTitleOnTop ? (
        <text x={x + INSET_PX} y={y + NAME_FOOT_PX} class="state-name">
          {label}
        </text>
      ) : (
        <text x={x + width / 2} y={y + height / 2 + 4} class="state-name is-centred">
          {label}
        </text>
      )}
      {rows.length > 0 && <path d={`M${x} ${y + NAME_BOTTOM_PX}h${width}`} class="state-rule" />}
      <StateRows state={state} highlights={highlights} hits={hits} />
    </>
  );
  return (
    <g class={classOf(props)}>
      {body}
      {onState !== undefined && <StateGoal state={state} isHere={highlights.active.has(id)} onState={onState} />}
    </g>
  );
}

interface StateGoalProps {
  readonly state: PictureState;
  readonly isHere: boolean;
  readonly onState: (state: string) => void;
}

/** Lies over the state and has no text inside: what it says is its name alone. */
function StateGoal({ state: { id, x, y, width, height }, isHere, onState }: StateGoalProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons.
    <rect
      {...{ x, y, width, height }}
      rx={7}
      class="state-goal"
      role="button"
      tabindex={0}
      aria-label={isHere ? `${id}, where the machine is` : `Take the shortest way to ${id}`}
      onClick={() => onState(id)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onState(id);
      }}
    />
  );
}

function StateRows({ state: { id, rows, x, width }, highlights, hits }: Pick<StateBoxProps, 'state' | 'highlights' | 'hits'>) {
  const countOf = (event: string) => (hits === undefined ? undefined : (hits.rows.get(rowKey(id, event)) ?? 0));
  const last = highlights.trail[0];
  return (
    <>
      {rows.map(({ refusal, y, ...row }, index) => {
        const { event, guard } = row;
        const isLit = last?.from === id && last.to === undefined && isLabelOf(row, last);
        return (
          <g
            key={`${event} ${guard ?? ''}`}
            class={`row${refusal === undefined ? '' : ' is-refusal'}${isLit ? ' is-lit' : hitLook(countOf(event))}`}
          >
            <text x={x + INSET_PX} y={y + FOOT_PX} class="row-event">
              {event}
              {guard !== undefined && <tspan class="row-guard"> {inBrackets(guard)}</tspan>}
            </text>
            {refusal !== undefined && (
              <text x={x + width - INSET_PX} y={y + FOOT_PX} class="row-refusal">
                {refusal}
              </text>
            )}
            {isFirst(rows, index) && <HitCount count={countOf(event)} x={x + width + 1} y={y} />}
            {isLit && <Badge words={String(last.at)} x={x + width + 1} y={y} />}
          </g>
        );
      })}
    </>
  );
}
