/** Keeps a bug of one page from taking the others along. */
import { Component, type ComponentChildren } from 'preact';
import { Page } from './page.tsx';

interface Props {
  /** Another address is another page: it is tried. */
  readonly path: string;
  readonly children: ComponentChildren;
}

interface State {
  readonly failed?: { readonly path: string; readonly message: string };
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = {};

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: { path: this.props.path, message: error instanceof Error ? error.message : String(error) } });
  }

  override render() {
    const { failed } = this.state;
    if (failed === undefined || failed.path !== this.props.path) return this.props.children;
    return (
      <Page title="This page stopped">
        <div class="problem" role="alert">
          <p class="problem-text">A bug of the console, not of the service: nothing was changed. The other pages go on.</p>
          <p class="problem-facts">
            <code>{failed.message}</code>
          </p>
          <button type="button" class="button" onClick={() => location.reload()}>
            Load the page again
          </button>
        </div>
      </Page>
    );
  }
}
