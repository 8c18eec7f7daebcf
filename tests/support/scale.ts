/** How long scenarios go on that find more the longer they run: briefly in every test run, at full length with THOROUGH=1. */
export function scaled(full: number, brief: number): number {
  return process.env.THOROUGH === '1' ? full : brief;
}
