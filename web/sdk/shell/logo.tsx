/** The app's logo, or the first letter of the assistant's name while there is none. */
import { useEffect, useState } from 'preact/hooks';
import type { Scene } from '../scene.ts';
import { useStore } from '../store-hook.ts';

export function Logo({ scene }: { readonly scene: Scene }) {
  useStore(scene.assistant.app, ({ configuration }) => configuration);
  const { logo, copilot } = scene.appearance();
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (logo === undefined) return;
    let made: string | undefined;
    let isOver = false;
    scene.logo().then(
      (image) => {
        if (isOver || image === undefined) return;
        made = URL.createObjectURL(image);
        setAddress(made);
      },
      () => {},
    );
    return () => {
      isOver = true;
      if (made !== undefined) URL.revokeObjectURL(made);
      setAddress(undefined);
    };
  }, [scene, logo]);
  const name = copilot.assistantName ?? scene.words.assistant;
  const letter = [...name][0]?.toLocaleUpperCase() ?? '';
  return (
    <span class="mark" aria-hidden="true">
      {/* A page whose policy allows no pictures of ours shows the letter. */}
      {address === undefined ? letter : <img src={address} alt="" onError={() => setAddress(undefined)} />}
    </span>
  );
}
