/** Command: says where the operator's token is kept, or makes another (RUN-29). */
import { dataLayout } from '../../storage/data-layout.ts';
import { rotateOperatorToken } from '../../storage/secrets/operator-token.ts';
import { type Call, type Command, CommandFailed } from './command.ts';
import { keptToken } from './console-client.ts';

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
  keptToken(config);
  if (!rotate) {
    call.answer(
      { source: file, token: null },
      `${file} holds the digest of the operator token, which was printed when it was minted. Where it is lost, token --rotate makes another.`,
    );
    return;
  }
  const token = rotateOperatorToken(file);
  call.note('This operator token is shown once. Restart all nodes of this DATA_DIR: until then they take the old one.');
  call.note('All console sessions end with the restart.');
  call.answer({ source: file, rotated: true, token }, token);
}

export const tokenCommand: Command = {
  name: 'token',
  usage: '',
  does: 'Says where the operator token of DATA_DIR is kept.',
  arity: [0, 0],
  options: { rotate: { does: 'make a new one, and print it this once' } },
  run,
};
