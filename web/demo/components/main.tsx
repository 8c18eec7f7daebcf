/** The page of components: every one in every state, drawn by the widget's own drawings. What a person does on it stays on it. */
import { render } from 'preact';
import { loadLaterViews } from '../../sdk/blocks/later.tsx';
import { widgetSheets } from '../../sdk/look/sheets.ts';
import pageSheet from '../look/components.css';
import { Page } from './page.tsx';

document.adoptedStyleSheets = widgetSheets(pageSheet);
const root = document.getElementById('page');
// Every state is shown as it is once everything is there.
await loadLaterViews();
if (root !== null) render(<Page />, root);
