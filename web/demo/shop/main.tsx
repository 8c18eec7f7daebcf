/** The demo shop begins here. */
import { render } from 'preact';
import { sheetOf } from '../../sdk/look/sheets.ts';
import tokensSheet from '../../sdk/look/tokens.css';
import pageSheet from '../look/shop.css';
import { Page } from './page.tsx';
import { Shop } from './shop.ts';

document.adoptedStyleSheets = [tokensSheet, pageSheet].map(sheetOf);
const root = document.getElementById('page');
if (root !== null) render(<Page shop={new Shop(Date.now())} />, root);
