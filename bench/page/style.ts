/** The CSS of the reports: light and dark by the reader's system, narrow screens, paper. */

const COLOURS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  ground: ['#f9fafc', '#0c1015'],
  panel: ['#ffffff', '#13181e'],
  line: ['#e0e3e7', '#292e35'],
  ink: ['#192029', '#eceff2'],
  'ink-2': ['#4f565f', '#afb5bc'],
  'ink-3': ['#696f78', '#8d939a'],
  ok: ['#067d4d', '#5eca91'],
  wait: ['#986600', '#e9b452'],
  bad: ['#c2272d', '#f87e77'],
  soft: ['#e9f1fe', '#1b2942'],
  'wait-soft': ['#fdf1d8', '#37290f'],
  'bad-soft': ['#ffedeb', '#431f1d'],
  limit: ['#696f78', '#8d939a'],
  ours: ['#3361bb', '#77a4f6'],
  beside: ['#6f97e2', '#466fbd'],
  earlier: ['#4f565f', '#afb5bc'],
};

/** For whoever is not ours: neighbours differ in hue and in lightness. */
const OTHERS: readonly (readonly [light: string, dark: string])[] = [
  ['#b64340', '#e66e68'],
  ['#cb7d34', '#fba962'],
  ['#7e6f08', '#a89a42'],
  ['#5aa75e', '#86d489'],
  ['#007f7f', '#39abab'],
  ['#ac78d2', '#d9a4ff'],
  ['#ab437b', '#db6ea5'],
];

export type Hue = 'limit' | 'ours' | 'beside' | 'earlier' | `other-${number}`;

/** The colour of the n-th of many; after the last comes the first again, in dashes. */
export function otherHue(at: number): Hue {
  return `other-${at}`;
}

/** The colour of the n-th line of a plot that is about no servers. */
export function lineHue(at: number): Hue {
  return at === 0 ? 'ours' : otherHue((at - 1) * 4);
}

const ALL: readonly (readonly [string, readonly [string, string]])[] = [
  ...Object.entries(COLOURS),
  ...OTHERS.map((colour, at) => [`other-${at}`, colour] as const),
];

function variables(scheme: 0 | 1): string {
  return ALL.map(([name, colour]) => `--${name}:${colour[scheme]}`).join(';');
}

/** More servers than this have no colour of their own. */
const HUES_MAX = 21;

/** Colours by the reader's system, and the class of each hue, which sets `--hue` for what is inside. */
const PALETTE = `:root{color-scheme:light dark;${variables(0)}}
@media (prefers-color-scheme:dark){:root{${variables(1)}}}
@media print{:root{color-scheme:light;${variables(0)}}}
.limit{--hue:var(--limit)}.ours{--hue:var(--ours)}.beside{--hue:var(--beside)}.earlier{--hue:var(--earlier)}
${Array.from({ length: HUES_MAX }, (_, at) => `.other-${at}{--hue:var(--other-${at % OTHERS.length})}`).join('')}
`;

/** Whether a line is dashed: those whose colour is another's too. */
export function isDashed(hue: Hue): boolean {
  return hue === 'limit' || hue === 'beside' || hue === 'earlier' || Number(hue.slice('other-'.length)) >= OTHERS.length;
}

export const PLOT_STYLE = `${PALETTE}
text{font:12px ui-sans-serif,system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;font-variant-numeric:tabular-nums;fill:var(--ink)}
.tick{fill:var(--ink-3);font-size:11px}.grid{stroke:var(--line)}.moment{stroke:var(--ink-3);stroke-dasharray:1 4;opacity:.7}.end{text-anchor:end}.middle{text-anchor:middle}
.bar{fill:var(--hue)}.range{stroke:var(--ink);stroke-width:1.2;opacity:.75}.name.ours,.label.ours{font-weight:650}.faint{fill:var(--ink-3)}
.reference{stroke:var(--limit);stroke-dasharray:3 3}
.line{fill:none;stroke:var(--hue);stroke-width:1.7;stroke-linejoin:round}.line.ours{stroke-width:2.8}.dashed{stroke-dasharray:6 3}
.dot{fill:var(--hue)}.whisker{stroke:var(--hue);stroke-width:1.2}.leader{stroke:var(--hue);opacity:.45}.line-name{fill:var(--hue)}
.tip .dot,.tip text{opacity:0;pointer-events:none}.tip:hover .dot,.tip:hover text{opacity:1}.tip text{font-weight:600;fill:var(--ink);stroke:var(--panel);stroke-width:5px;stroke-linejoin:round;paint-order:stroke}
.hit,.row{fill:transparent}g:hover>.row{fill:var(--soft)}
.shade{fill:var(--ink-3);opacity:.12}
.aim{stroke:var(--bad);stroke-dasharray:5 4}.aim-name{fill:var(--bad);font-size:11px}
`;

export const STYLE = `${PLOT_STYLE}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1480px;margin:0 auto;padding:28px 28px 64px}
h1{font-size:26px;line-height:1.2;letter-spacing:-.01em;margin:0 0 6px}h2{font-size:20px;margin:48px 0 8px;letter-spacing:-.005em}
h3{font-size:16px;margin:28px 0 8px}h3 small{font-weight:400;color:var(--ink-2);font-size:14px;margin-left:6px}
p{margin:6px 0;max-width:90ch}small,.muted{color:var(--ink-2);font-weight:400}a{color:var(--ours)}
nav{display:flex;flex-wrap:wrap;gap:4px;margin:16px 0;position:sticky;top:0;z-index:1;background:var(--ground);padding:6px 0}nav a{padding:3px 10px;border-radius:6px;text-decoration:none}nav a:hover{background:var(--soft)}section{scroll-margin-top:48px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:16px 0}dt{color:var(--ink-2)}dd{margin:0}
.verdict{border-left:4px solid var(--ok);background:var(--panel);padding:10px 16px;margin:16px 0;border-radius:0 8px 8px 0;font-size:16px}
.verdict.bad{border-color:var(--bad)}.verdict.wait{border-color:var(--wait)}
.plots{display:grid;grid-template-columns:minmax(0,1fr);gap:16px}@media (min-width:900px){.plots{grid-template-columns:repeat(2,minmax(0,1fr))}}@media (min-width:2000px){main{max-width:2200px}.plots{grid-template-columns:repeat(4,minmax(0,1fr))}}
figure{margin:0;background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:12px 14px 6px;break-inside:avoid}
figure{display:flex;flex-direction:column}.plots figure>svg{margin:auto 0}.fit{width:fit-content;max-width:100%}.fit table{min-width:0}
figcaption{font-weight:600;font-size:14px;margin-bottom:4px}svg{width:100%;height:auto;display:block;overflow:visible}
.key{font-weight:400;margin-left:12px;white-space:nowrap}.key i{display:inline-block;width:14px;height:3px;margin-right:5px;vertical-align:middle;background:var(--hue)}
.scroll{overflow-x:auto;margin:10px 0;background:var(--panel);border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;font-size:13.5px;font-variant-numeric:tabular-nums;min-width:100%}
caption{text-align:left;font-weight:600;padding:8px 12px 2px}
th,td{text-align:left;padding:5px 12px;border-bottom:1px solid var(--line);vertical-align:top}td{max-width:60ch}td:last-child{min-width:20ch}td.number:last-child{min-width:0}
thead th{color:var(--ink-2);font-weight:600;vertical-align:bottom}tbody th{font-weight:600;white-space:nowrap}tr:last-child>*{border-bottom:0}
.number{text-align:right;white-space:nowrap}.first>*{border-top:1px solid var(--ink-3)}
.level-1{background:var(--soft)}.level-2{background:var(--wait-soft)}.level-3{background:var(--bad-soft)}
ul.sentences{padding:0;margin:8px 0;list-style:none}ul.sentences li{padding:6px 12px;border-left:3px solid var(--ink-3);margin:6px 0;background:var(--panel);max-width:110ch;overflow-wrap:anywhere}
ul.bad li{border-color:var(--bad)}ul.wait li{border-color:var(--wait)}
pre{margin:6px 0;white-space:pre-wrap}code{font:13px ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
@media (max-width:640px){main{padding:18px 12px 48px}text{font-size:16px}.tick,.aim-name{font-size:15px}figure{padding:10px 8px 4px}dl{grid-template-columns:1fr}dt{margin-top:6px}.key{margin-left:0;margin-right:12px}}
@media print{body{font-size:11px;background:none}main{max-width:none;padding:0}nav{display:none}.plots{grid-template-columns:1fr 1fr}.scroll{overflow:visible;border:0}table{font-size:8px}th,td{padding:2px 4px}h2,h3{break-after:avoid}tr{break-inside:avoid}}
`;
