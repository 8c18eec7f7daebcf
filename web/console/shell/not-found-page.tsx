/** An address that is no page. */
import { Page } from './page.tsx';

export function NotFoundPage() {
  return (
    <Page title="There is no such page">
      <div class="empty">
        <p>The address may be mistyped, or of another version.</p>
        <a class="button" href="/console">
          Go to the overview
        </a>
      </div>
    </Page>
  );
}
