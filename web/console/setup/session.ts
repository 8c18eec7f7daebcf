/** A setup session as the interface tells of it, and what the page makes of that: lines in their order, and who closed which step. */

import type { Line, SetupSession, Step } from '../../../protocol/console/setup-answers.ts';
export function isOver({ closed_at: closedAt }: SetupSession): boolean {
  return closedAt !== null;
}

export function withLines(lines: readonly Line[], more: readonly Line[]): readonly Line[] {
  const last = lines.at(-1)?.id ?? 0;
  const fresh = more.filter(({ id }) => id > last);
  return fresh.length === 0 ? lines : [...lines, ...fresh];
}

/** What a mark says of a step. A `done` is the service's own observation or work, or the word of the agent. */
export type Mark = 'pending' | 'active' | 'waits' | 'left' | 'observed' | 'claimed' | 'failed' | 'skipped';

export const MARK_WORDS: Readonly<Record<Mark, string>> = {
  pending: 'not begun',
  active: 'under way',
  waits: 'waits for you',
  left: 'left unfinished',
  observed: 'done, as the service saw',
  claimed: 'done, as the agent says',
  failed: 'failed',
  skipped: 'skipped',
};

/** `lines`: those of this step. A step that either may close was observed where the service itself did or saw something of it. */
export function markOf({ state, closed_by: closedBy }: Step, lines: readonly Line[], isEnded = false): Mark {
  // Nobody is at it any more.
  if (state === 'active' && isEnded) return 'left';
  if (state === 'active' && lines.at(-1)?.status === 'waiting') return 'waits';
  if (state !== 'done') return state;
  if (closedBy === 'either') return lines.some(({ origin }) => origin === 'server') ? 'observed' : 'claimed';
  return closedBy === 'server' ? 'observed' : 'claimed';
}

export function linesByStep(lines: readonly Line[]): ReadonlyMap<string, readonly Line[]> {
  const byStep = new Map<string, Line[]>();
  for (const line of lines) {
    const own = byStep.get(line.step);
    if (own === undefined) byStep.set(line.step, [line]);
    else own.push(line);
  }
  return byStep;
}

const TOOLS: Readonly<Record<string, string>> = {
  claude_code: 'Claude Code',
  cursor: 'Cursor',
  codex: 'Codex',
  copilot: 'Copilot',
  windsurf: 'Windsurf',
};

/** Who works, in one line; undefined before the session was claimed. */
export function agentName({ agent }: SetupSession): string | undefined {
  if (agent === null) return undefined;
  const tool = agent.tool === null ? 'An agent' : (TOOLS[agent.tool] ?? agent.tool);
  const more = [agent.model, agent.os].filter((part) => part !== null && part !== '');
  return more.length === 0 ? tool : `${tool}, ${more.join(', ')}`;
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
