/** Milliseconds with as many digits as matter. */
export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return '–';
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms.toFixed(2);
}

export function formatTime(ms: number | undefined): string {
  return ms === undefined || ms >= 10_000 ? formatMs(ms) : `${formatMs(ms)} ms`;
}

/** Never rounded up to an aim that was missed. */
export function formatPercent(share: number | undefined): string {
  return share === undefined ? '–' : `${Math.floor(share * 10_000 + 1e-6) / 100} %`;
}

export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
