/** The styles of the widget as sheets, which a page or a shadow root adopts: a policy that forbids styles in a page allows these. */
import blocksCss from './blocks.css';
import launcherCss from './launcher.css';
import tokensCss from './tokens.css';
import widgetCss from './widget.css';

export function sheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

/** Those of the widget, and `more` above them. */
export function widgetSheets(...more: readonly string[]): CSSStyleSheet[] {
  return [tokensCss, blocksCss, launcherCss, widgetCss, ...more].map(sheetOf);
}
