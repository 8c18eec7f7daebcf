/** The steps of a story, one below the other; the one that is looked at is in sight. */
import { useEffect, useRef } from 'preact/hooks';
import { type Scene, wayWords } from './traces.ts';

interface SceneListProps {
  readonly story: readonly Scene[];
  readonly at: number;
  readonly namesMachines: boolean;
  readonly onScene: (at: number) => void;
}

/** `+1.25 s`, from the first step on. */
export function sinceWords(ms: number): string {
  return ms < 1_000 ? `+${ms} ms` : `+${(ms / 1_000).toFixed(2)} s`;
}

export function SceneList({ story, at, namesMachines, onScene }: SceneListProps) {
  const firstMs = story[0]?.step.atMs ?? 0;
  return (
    <ol class="scenes">
      {story.map((scene, index) => (
        <SceneLine
          key={`${scene.trace.machine} ${scene.trace.instance} ${scene.index}`}
          scene={scene}
          since={sinceWords(scene.step.atMs - firstMs)}
          isShown={index === at}
          namesMachine={namesMachines}
          onShow={() => onScene(index)}
        />
      ))}
    </ol>
  );
}

interface SceneLineProps {
  readonly scene: Scene;
  readonly since: string;
  readonly isShown: boolean;
  readonly namesMachine: boolean;
  readonly onShow: () => void;
}

function SceneLine({ scene: { trace, step }, since, isShown, namesMachine, onShow }: SceneLineProps) {
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const list = line.current?.parentElement;
    // Where the list is as long as its steps, the page would move.
    if (isShown && list && list.scrollHeight > list.clientHeight) line.current?.scrollIntoView({ block: 'nearest' });
  }, [isShown]);
  return (
    <li ref={line}>
      <button type="button" class="scene" aria-current={isShown ? 'step' : undefined} onClick={onShow}>
        <span class="scene-time">{since}</span>
        <code>{step.event.type}</code>
        <span class="scene-way">
          {namesMachine && `${trace.machine}: `}
          {wayWords(step)}
        </span>
      </button>
    </li>
  );
}
