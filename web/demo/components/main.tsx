/** The page of components: every one in every state, drawn by the widget's own drawings. What a person does on it stays on it. */
import { render } from 'preact';
import { loadLaterViews } from '../../sdk/blocks/later.tsx';
import blocksSheet from '../../sdk/look/blocks.css';
import tokensSheet from '../../sdk/look/tokens.css';
import widgetSheet from '../../sdk/look/widget.css';
import pageSheet from '../look/components.css';
import { Page } from './page.tsx';

document.adoptedStyleSheets = [tokensSheet, blocksSheet, widgetSheet, pageSheet].map((text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
});
const root = document.getElementById('page');
// Every state is shown as it is once everything is there.
await loadLaterViews();
if (root !== null) render(<Page />, root);
