/** A machine's picture: its coordinates were made when building, here it is only painted, lit and moved. */
import { edgePath } from '../../../machines/diagrams/edge-path.ts';
import { FOOT_PX, INSET_PX, inBrackets, LINE_PX, NAME_BOTTOM_PX, NAME_FOOT_PX, RIM_PX } from '../../../machines/diagrams/text.ts';
import type { MachinePicture, PictureEdge, PictureState } from '../../../machines/picture.ts';
import { type Highlights, isLabelOf } from './highlights.ts';
import { useViewport } from './viewport-hook.ts';

export interface DrawingProps {
  readonly picture: MachinePicture;
  readonly highlights: Highlights;
  /** What a click on a state does, for its name to say. Absent: states are not for clicking. */
  readonly onState?: (state: string) => void;
}

export function Drawing({ picture, highlights, onState }: DrawingProps) {
  const { frame, viewBox, zoom, fit, ...handlers } = useViewport(picture, middleOf(picture, highlights));
  const around = new Set(picture.states.flatMap(({ parent }) => parent ?? []));
  const outer = picture.states.filter(({ id }) => around.has(id));
  const inner = picture.states.filter(({ id }) => !around.has(id));
  return (
    <div class="drawing">
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no elements of a form. */}
      <svg
        ref={frame}
        class="drawing-frame"
        {...(viewBox === undefined ? {} : { viewBox })}
        {...handlers}
        onPointerCancel={handlers.onPointerUp}
        tabindex={0}
        role="group"
        aria-label={`Picture of ${picture.machine}. Arrow keys move it, plus and minus zoom, 0 shows all of it.`}
      >
        <Arrows />
        {outer.map((state) => (
          <StateBox key={state.id} state={state} isOuter highlights={highlights} onState={undefined} />
        ))}
        {picture.edges.map((edge) => (
          <EdgeLine key={`${edge.from} ${edge.to}`} edge={edge} highlights={highlights} />
        ))}
        {picture.start.map(({ x, y, to, points }) => (
          <g key={to}>
            <path d={edgePath(points)} class="edge" marker-end="url(#arrow)" />
            <circle cx={x} cy={y} r={5} class="start-dot" />
          </g>
        ))}
        {picture.edges.map((edge) => (
          <EdgeLabels key={`${edge.from} ${edge.to}`} edge={edge} highlights={highlights} />
        ))}
        {inner.map((state) => (
          <StateBox key={state.id} state={state} isOuter={false} highlights={highlights} onState={onState} />
        ))}
      </svg>
      <div class="drawing-tools">
        <button type="button" class="button bare" aria-label="Closer" onClick={() => zoom(1.25)}>
          +
        </button>
        <button type="button" class="button bare" aria-label="Farther" onClick={() => zoom(0.8)}>
          −
        </button>
        <button type="button" class="button bare" onClick={fit}>
          Fit
        </button>
      </div>
    </div>
  );
}

/** The middle of the first state where the machine is. */
function middleOf({ states }: MachinePicture, { active }: Highlights): { readonly x: number; readonly y: number } | undefined {
  const state = states.find(({ id }) => active.has(id));
  return state === undefined ? undefined : { x: state.x + state.width / 2, y: state.y + state.height / 2 };
}

/** Heads of arrows, by what a line is; a marker does not take the colour of its line everywhere. */
function Arrows() {
  return (
    <defs>
      {['arrow', 'arrow-lit', 'arrow-trail'].map((id) => (
        <marker key={id} id={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 8 4 0 8z" class={id} />
        </marker>
      ))}
    </defs>
  );
}

interface EdgeProps {
  readonly edge: PictureEdge;
  readonly highlights: Highlights;
}

/** How many transitions ago the edge was taken, 0 for the last one; below 0: it was not, or long ago. */
function ageOf({ edge, highlights }: EdgeProps): number {
  return highlights.trail.findIndex(({ from, to }) => from === edge.from && to === edge.to);
}

function EdgeLine(props: EdgeProps) {
  const age = ageOf(props);
  const look = age < 0 ? '' : age === 0 ? ' is-lit' : ` is-trail is-trail-${age}`;
  const arrow = age < 0 ? 'arrow' : age === 0 ? 'arrow-lit' : 'arrow-trail';
  return <path d={edgePath(props.edge.points)} class={`edge${look}`} marker-end={`url(#${arrow})`} />;
}

/** Above every line, so that none runs through a word. */
function EdgeLabels(props: EdgeProps) {
  const last = ageOf(props) === 0 ? props.highlights.trail[0] : undefined;
  return (
    <>
      {props.edge.labels.map(({ x, y, width, ...label }) => (
        <g key={`${label.event} ${label.guard ?? ''}`} class={isLabelOf(label, last) ? 'label is-lit' : 'label'}>
          <rect x={x} y={y} width={width} height={label.guard === undefined ? LINE_PX : 2 * LINE_PX} class="label-ground" />
          <text x={x + width / 2} y={y + FOOT_PX} class="label-event">
            {label.event}
          </text>
          {label.guard !== undefined && (
            <text x={x + width / 2} y={y + LINE_PX + FOOT_PX} class="label-guard">
              {inBrackets(label.guard)}
            </text>
          )}
        </g>
      ))}
    </>
  );
}

interface StateBoxProps {
  readonly state: PictureState;
  /** Others lie inside it. */
  readonly isOuter: boolean;
  readonly highlights: Highlights;
  readonly onState: ((state: string) => void) | undefined;
}

function classOf({ state, isOuter, highlights }: StateBoxProps): string {
  const isIn = isOuter ? [...highlights.active].some((id) => id.startsWith(`${state.id}.`)) : highlights.active.has(state.id);
  return ['state', isOuter && 'is-outer', state.final && 'is-final', isIn && 'is-active'].filter((name) => name !== false).join(' ');
}

function StateBox(props: StateBoxProps) {
  const { state, isOuter, highlights, onState } = props;
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
      <StateRows state={state} highlights={highlights} />
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

/** Transitions that lead nowhere else are written inside their state, refusals with their code. */
function StateRows({ state: { id, rows, x, width }, highlights }: { readonly state: PictureState; readonly highlights: Highlights }) {
  const last = highlights.trail[0];
  return (
    <>
      {rows.map(({ refusal, y, ...row }) => {
        const { event, guard } = row;
        const isLit = last?.from === id && last.to === undefined && isLabelOf(row, last);
        return (
          <g key={`${event} ${guard ?? ''}`} class={`row${refusal === undefined ? '' : ' is-refusal'}${isLit ? ' is-lit' : ''}`}>
            <text x={x + INSET_PX} y={y + FOOT_PX} class="row-event">
              {event}
              {guard !== undefined && <tspan class="row-guard"> {inBrackets(guard)}</tspan>}
            </text>
            {refusal !== undefined && (
              <text x={x + width - INSET_PX} y={y + FOOT_PX} class="row-refusal">
                {refusal}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}
