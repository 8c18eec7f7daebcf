/** What an empty thread shows: the app's greeting, and what may be asked with one press. */
import type { Scene } from '../scene.ts';

export function Welcome({ scene }: { readonly scene: Scene }) {
  const { words } = scene;
  const { copilot } = scene.appearance();
  return (
    <div class="welcome">
      <h3>{copilot.welcomeTitle ?? words.welcomeTitle}</h3>
      {copilot.welcomeBody === undefined ? null : <p>{copilot.welcomeBody}</p>}
      {copilot.suggestions.length === 0 ? null : (
        <ul aria-label={words.suggestions}>
          {copilot.suggestions.map((suggestion) => (
            <li key={suggestion}>
              <button type="button" class="suggestion" onClick={() => scene.say(suggestion)}>
                {suggestion}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
