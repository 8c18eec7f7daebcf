/** A machine's picture in its frame: the one that can be read there, opened about where the machine is, and moved. */

import { useRef, useState } from 'preact/hooks';
import { inBrackets } from '../../../machines/diagrams/text.ts';
import type { MachineOutline, MachinePicture } from '../../../machines/picture.ts';
import { Button } from '../parts/card.tsx';
import { useShortcut } from '../shell/shortcuts.ts';
import type { Hits } from './coverage.ts';
import type { Highlights } from './highlights.ts';
import { Painting } from './painting.tsx';
import { fitting, MARGIN, type Point } from './viewport.ts';
import { useFrameSize, useViewport } from './viewport-hook.ts';

interface DrawingProps {
  readonly picture: MachinePicture;
  readonly highlights: Highlights;
  /** How often what is drawn was hit; absent: nobody counted. */
  readonly hits?: Hits;
  /** Names of the instances in each state; absent: there is one, where `highlights` says. */
  readonly places?: ReadonlyMap<string, readonly string[]>;
  /** Of a machine of equal regions, the one that is drawn. */
  readonly region?: string;
  readonly onState?: (state: string) => void;
}

/** Narrower windows are phones: look/machines.css says the same. */
const PHONE_PX = 600;

/** The middle of the states where the machine is; of all of it where it is nowhere. */
function middleOf({ states, width, height }: MachineOutline, active: ReadonlySet<string>): Point {
  const here = states.filter(({ id }) => active.has(id));
  if (here.length === 0) return { x: width / 2, y: height / 2 };
  const sum = here.reduce((at, state) => ({ x: at.x + state.x + state.width / 2, y: at.y + state.y + state.height / 2 }), { x: 0, y: 0 });
  return { x: sum.x / here.length, y: sum.y / here.length };
}

export function Drawing({ picture, highlights, hits, places, region = '', onState }: DrawingProps) {
  const frame = useRef<SVGSVGElement>(null);
  const size = useFrameSize(frame);
  // Undefined: its events too where they can be read.
  const [wanted, want] = useState<boolean>();
  const candidates = wanted === undefined ? ([picture, ...picture.outlines] as const) : wanted ? ([picture] as const) : outlinesOf(picture);
  // On a phone the page is as long as the picture.
  const room = size !== undefined && innerWidth < PHONE_PX ? { ...size, height: Number.POSITIVE_INFINITY } : size;
  const drawn = room === undefined ? picture : fitting<MachineOutline>(candidates, room);
  const { viewBox, zoom, open, ...handlers } = useViewport(frame, size, drawn, middleOf(drawn, highlights.active));
  return (
    <div class="drawing">
      <div class="drawing-head">
        {hits === undefined && <Caption highlights={highlights} region={region} />}
        <div class="drawing-tools">
          <button type="button" class="button bare" aria-label="Closer" onClick={() => zoom(1.25)}>
            +
          </button>
          <button type="button" class="button bare" aria-label="Farther" onClick={() => zoom(0.8)}>
            −
          </button>
          <Button label="Fit" look="bare" onClick={open} />
          <button type="button" class="button bare" aria-pressed={drawn === picture} onClick={() => want(drawn !== picture)}>
            Events
          </button>
          <WideButton onChange={open} />
        </div>
      </div>
      <div class="drawing-place">
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
          {viewBox !== undefined && <Painting drawn={drawn} highlights={highlights} hits={hits} places={places} onState={onState} />}
        </svg>
        <svg class="drawing-room" width="1" height={drawn.height + 2 * MARGIN} aria-hidden="true" />
      </div>
    </div>
  );
}

function outlinesOf(picture: MachinePicture): readonly [MachineOutline, ...MachineOutline[]] {
  const [first = picture, ...others] = picture.outlines;
  return [first, ...others];
}

/** Where the machine is, and what brought it there. */
function Caption({ highlights: { active, trail }, region }: Required<Pick<DrawingProps, 'highlights' | 'region'>>) {
  const [last] = trail;
  const words = last?.guard === undefined ? last?.event : `${last.event} ${inBrackets(last.guard)}`;
  return (
    <p class="drawing-caption">
      {region !== '' && <code>{region}:</code>} <b>{[...active].join(', ')}</b>{' '}
      {last !== undefined && (
        <span class="hint">
          {last.to === undefined ? (
            'stays, by'
          ) : (
            <>
              from <code>{last.from}</code> by
            </>
          )}{' '}
          <code>{words}</code>
        </span>
      )}
    </p>
  );
}

/** Folds what stands beside the picture, the navigation too; the look follows the attribute (look/machines.css). Kept until the tab closes. */
function WideButton({ onChange }: { readonly onChange: () => void }) {
  const [isWide, widen] = useState(wasWide);
  const turn = () => {
    wasWide = !isWide;
    widen(wasWide);
    onChange();
  };
  useShortcut('w', 'Only the picture, or everything', turn);
  return (
    <button type="button" class="button bare drawing-wide" aria-pressed={isWide} onClick={turn}>
      {isWide ? 'Show all' : 'Only the picture'} <kbd>w</kbd>
    </button>
  );
}

let wasWide = false;
