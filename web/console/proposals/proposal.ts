/** Proposals as the interface answers them, and their words. */

import type { Proposal, WholeProposal } from '../../../protocol/console/setup-answers.ts';
export const KIND_LABELS: Readonly<Record<Proposal['kind'], string>> = {
  appearance: 'Appearance',
  logo: 'Logo',
  experience: 'Assistant',
  knowledge: 'Knowledge',
  actions: 'Actions',
  screens: 'Screens',
};

/** Its word and its colour: ../parts/states.ts. */
export function stateOf({ status }: Pick<Proposal, 'status'>): string {
  return status === 'pending' ? 'undecided' : status;
}

function reasonOf(value: unknown): readonly string[] {
  const reason = (value as { readonly reason?: unknown } | null)?.reason;
  return typeof reason === 'string' && reason !== '' ? [reason] : [];
}

export function reasonsOf({ write }: WholeProposal): readonly string[] {
  const { body, patch, items } = write;
  const archive = (body as { readonly archive?: unknown } | undefined)?.archive;
  const lists = [items, archive].flatMap((list) => (Array.isArray(list) ? list : []));
  return [...new Set([body, patch, ...lists].flatMap(reasonOf))];
}

export function afterApproval(kind: Proposal['kind']): string | undefined {
  return kind === 'appearance' || kind === 'logo' || kind === 'experience'
    ? 'Approving changes the draft. People get it once you publish.'
    : 'Approving counts at once, for the next request.';
}
