/** The table of contents of every write: the writer thread runs these by name, one committed group at a time. */
import * as apps from './apps.ts';
import { openWriter } from './database.ts';
import * as installation from './installation.ts';
import * as invocations from './invocations.ts';
import * as knowledge from './knowledge.ts';
import * as manifests from './manifests.ts';
import * as organisations from './organisations.ts';
import * as turns from './turns.ts';

export const open = openWriter;

export const transactions = {
  ...installation.transactions,
  ...organisations.transactions,
  ...apps.transactions,
  ...manifests.transactions,
  ...knowledge.transactions,
  ...turns.transactions,
  ...invocations.transactions,
};
