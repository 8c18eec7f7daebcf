/** Command: shows or rotates the operator's token (RUN-29). */
import { randomBytes } from 'node:crypto';
import { chownSync, renameSync, rmSync, statSync } from 'node:fs';
import { dataLayout } from '../../storage/data-layout.ts';
import { openOperatorToken } from '../../storage/secrets/operator-token.ts';
import type { Call, Command } from './command.ts';
import { operatorToken } from './console-client.ts';
import { CommandFailed } from './surroundings.ts';

/** Puts a new token in the place of the one in `file`, all at once. */
function replaceToken(file: string): void {
  const fresh = `${file}.${randomBytes(4).toString('hex')}.new`;
  try {
    const { uid, gid } = statSync(file);
    openOperatorToken(fresh, undefined);
    // Run as root, it would be root's, and the service could not read it.
    if (process.getuid?.() === 0) chownSync(fresh, uid, gid);
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}

function run(call: Call): void {
  const config = call.config();
  const rotate = call.flag('rotate');
  if (config.operatorToken !== undefined) {
    if (rotate) throw new CommandFailed('OPERATOR_TOKEN is set, so the token is changed where it is set. Then restart all nodes.');
    call.answer({ source: 'OPERATOR_TOKEN', token: null }, 'OPERATOR_TOKEN is set: the operator token is what it holds.');
    return;
  }
  const file = dataLayout(config.dataDir).operatorToken;
  // Also what tells a data directory from any other.
  const token = operatorToken(config);
  if (!rotate) {
    call.answer({ source: file, token }, token);
    return;
  }
  replaceToken(file);
  const advice = 'Restart all nodes of this DATA_DIR: until then they take the old one, and all console sessions end with the restart.';
  call.answer({ source: file, rotated: true }, `${file} holds a new operator token. ${advice}`);
}

export const tokenCommand: Command = {
  name: 'token',
  usage: '',
  does: 'Prints the operator token of DATA_DIR.',
  arity: [0, 0],
  options: { rotate: { does: 'make a new one instead, which is not printed' } },
  run,
};
