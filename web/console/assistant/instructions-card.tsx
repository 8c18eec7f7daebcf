/** What a model is told before anything was said: of the draft, and of what was published where that is other. */
import type { DraftedExperience } from '../preview/drafts-hook.ts';

export function InstructionsCard({ published_version: version, instructions: { sandbox, live } }: DraftedExperience) {
  return (
    <section class="card" aria-label="What the model is told">
      <h2>
        What the model is told <small>as saved; passages, screens and what was said come after it</small>
      </h2>
      <div class="card-body">
        <details>
          <summary>The draft, with test keys</summary>
          <pre class="selectable">{sandbox}</pre>
        </details>
        {version !== null && live !== sandbox && (
          <details>
            <summary>Version {version}, with live keys</summary>
            <pre class="selectable">{live}</pre>
          </details>
        )}
      </div>
    </section>
  );
}
