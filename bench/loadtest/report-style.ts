/** The CSS of the report, light and dark by the reader's system. */

export const STYLE = `
:root { color-scheme: light dark; --bg: #fff; --fg: #1a1f29; --muted: #5c6675; --rule: #dfe3e9; --good: #0a7a43; --bad: #b3261e;
  --c0: #1f6feb; --c1: #d9480f; --c2: #0a7a43; --c3: #8250df; --c4: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --bg: #0f1319; --fg: #e4e8ee; --muted: #98a2b1; --rule: #2a313c; --good: #4ac585; --bad: #ff8a80;
  --c0: #6cb1ff; --c1: #ff9a5c; --c2: #4ac585; --c3: #c297ff; --c4: #e3b341; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1560px; padding: 24px; background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 17px; margin: 32px 0 8px; }
p { margin: 4px 0; } small, .muted { color: var(--muted); font-weight: normal; }
.verdict { font-size: 17px; margin: 16px 0; padding: 10px 14px; border-left: 4px solid var(--good); }
.verdict.bad { border-color: var(--bad); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 20px; }
figure { margin: 0; } figcaption { font-weight: 600; } svg { width: 100%; height: auto; display: block; }
.grid { stroke: var(--rule); } .tick { fill: var(--muted); font-size: 12px; } .line { fill: none; stroke-width: 1.8; }
.limit { stroke: var(--bad); stroke-dasharray: 5 4; } .limit-label { stroke: none; fill: var(--bad); }
.key { font-weight: normal; margin-left: 12px; white-space: nowrap; } .key i { display: inline-block; width: 12px; height: 3px; margin-right: 5px; vertical-align: middle; }
${[0, 1, 2, 3, 4].map((at) => `.c${at} { stroke: var(--c${at}); } .k${at} { background: var(--c${at}); }`).join('\n')}
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 4px 14px 4px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th:first-child, td:first-child, td.words { text-align: left; } td.words { min-width: 260px; } code { font-size: 13px; overflow-wrap: anywhere; }
`;
