/** The steps of a story, one below the other; the one that is looked at is in sight. */
import { useEffect, useRef } from 'preact/hooks';
import type { Scale } from './spans.ts';
import { type Scene, wayWords } from './traces.ts';

interface SceneListProps {
  readonly story: readonly Scene[];
  readonly at: number;
  readonly scale: Scale;
  readonly onScene: (at: number) => void;
}

export function SceneList({ story, at, scale, onScene }: SceneListProps) {
  return (
    <ol class="scenes">
      {story.map((scene, index) => (
        <SceneLine
          key={`${scene.trace.machine} ${scene.trace.instance} ${scene.index}`}
          scene={scene}
          number={index + 1}
          since={scale.clockOf(scene.step.atMs)}
          isShown={index === at}
          namesMachine={scene.trace.machine !== story[0]?.trace.machine}
          onShow={() => onScene(index)}
        />
      ))}
    </ol>
  );
}

interface SceneLineProps {
  readonly scene: Scene;
  /** As on the machine's picture, from 1 on. */
  readonly number: number;
  readonly since: string;
  readonly isShown: boolean;
  readonly namesMachine: boolean;
  readonly onShow: () => void;
}

function SceneLine({ scene: { trace, step }, number, since, isShown, namesMachine, onShow }: SceneLineProps) {
  const line = useRef<HTMLLIElement>(null);
  const way = (namesMachine ? `${trace.machine}: ` : '') + wayWords(step);
  useEffect(() => {
    const list = line.current?.parentElement;
    // Where the list is as long as its steps, the page would move.
    if (isShown && list && list.scrollHeight > list.clientHeight) line.current?.scrollIntoView({ block: 'nearest' });
  }, [isShown]);
  return (
    <li ref={line}>
      <button type="button" class="scene" aria-current={isShown ? 'step' : undefined} onClick={onShow}>
        <span class="scene-number">{number}</span>
        <code>{step.event.type}</code>
        <span class="scene-time">{since}</span>
        <span class="scene-way" title={way}>
          {way}
        </span>
      </button>
    </li>
  );
}
