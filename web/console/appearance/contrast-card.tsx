/** Pairs of colours that are hard to read, each with the nearest colour that mends it. */
import type { ContrastWarning } from './preview-hook.ts';
import { LABELS } from './theme-fields.ts';

/** A fix names a token of the light theme by its name alone. */
function pathOf(token: string): string {
  return token.includes('.') ? token : `theme.${token}`;
}

export interface ContrastCardProps {
  readonly warnings: readonly ContrastWarning[];
  readonly onFix: (fix: { readonly token: string; readonly suggested: string }) => void;
}

export function ContrastCard({ warnings, onFix }: ContrastCardProps) {
  if (warnings.length === 0) return null;
  return (
    <section class="card" aria-label="Contrast">
      <h2>
        Hard to read <small>WCAG 2.2; nothing is refused for it</small>
      </h2>
      <ul class="lines">
        {warnings.map(({ check, what, fix }) => (
          <li key={`${check} ${what}`} class="line">
            <span class="line-text">{what}</span>
            {fix !== undefined && (
              <button type="button" class="button" onClick={() => onFix({ token: pathOf(fix.token), suggested: fix.suggested })}>
                <svg class="dot" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
                  <circle cx="6" cy="6" r="5.5" fill={fix.suggested} stroke="currentColor" stroke-width="0.5" />
                </svg>
                {LABELS[pathOf(fix.token)] ?? fix.token}: {fix.suggested}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
