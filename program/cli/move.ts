/** Command: moves an organisation to another cell, and follows the move to its end (RUN-28). */
import * as v from 'valibot';
import { type Call, type Command, CommandFailed, type ConsoleClient, WrongUsage } from './command.ts';
import { Unreachable } from './console-client.ts';

const moveSchema = v.object({
  organisation_id: v.string(),
  move_id: v.string(),
  target_cell: v.string(),
  step: v.string(),
  error: v.nullable(v.string()),
  started_at: v.string(),
  updated_at: v.string(),
});
const answerSchema = v.object({ move: v.nullable(moveSchema) });
const begunSchema = v.object({ pause: v.object({ bytes: v.number(), seconds: v.number() }) });
type Move = v.InferOutput<typeof moveSchema>;

/** A move takes from a second to minutes. */
const LOOK_MS = 500;
/** A node that restarts meanwhile is back within this time, or a person has to look. */
const AWAY_MAX_MS = 60_000;

/** What each step, once done, means for those who wait. */
const MEANING: Readonly<Record<string, string>> = {
  begun: 'the move is noted down',
  sealed: 'nothing is written here any more, its copy is on the way',
  switched: 'the other cell has all of it, and the map names it',
  done: 'nothing is left to do',
  aborted: 'the move was given up, it is served here as before',
};

function line({ step, error }: Move): string {
  const meaning = MEANING[step];
  return `${step.padEnd(9)} ${meaning ?? ''}${error === null ? '' : `  (${error})`}`.trimEnd();
}

function path(organisationId: string): string {
  return `/orgs/${encodeURIComponent(organisationId)}/move`;
}

/** Undefined while nobody answers. @throws Unreachable once nobody has answered for too long. */
async function look(service: ConsoleClient, organisationId: string, awayMs: number): Promise<Move | null | undefined> {
  try {
    return (await service.ask('GET', path(organisationId), answerSchema)).move;
  } catch (error) {
    if (error instanceof Unreachable && awayMs < AWAY_MAX_MS) return undefined;
    throw error;
  }
}

async function follow(call: Call, service: ConsoleClient, organisationId: string): Promise<void> {
  const again = `npm run cli -- move ${organisationId} --status`;
  let shown = '';
  let awayMs = 0;
  for (;;) {
    const move = await look(service, organisationId, awayMs);
    awayMs = move === undefined ? awayMs + LOOK_MS : 0;
    if (move === null) throw new CommandFailed(`The service knows of no move of ${organisationId} any more. See where it is: ${again}`);
    if (move !== undefined && line(move) !== shown) {
      shown = line(move);
      call.answer({ move }, shown);
    }
    if (move?.step === 'done') return;
    if (move?.step === 'aborted') throw new CommandFailed(`${organisationId} was not moved: ${move.error ?? 'see the log of the service'}`);
    await call.pause(LOOK_MS);
  }
}

async function status(call: Call, organisationId: string): Promise<void> {
  const { move } = await call.service().ask('GET', path(organisationId), answerSchema);
  const text =
    move === null ? `${organisationId} was never moved from here.` : `to ${move.target_cell} since ${move.started_at}\n${line(move)}`;
  call.answer({ move }, text);
}

async function run(call: Call): Promise<void> {
  const [organisationId = '', cell] = call.args;
  if (call.flag('status')) {
    if (cell !== undefined) throw new WrongUsage('--status takes the organisation only.');
    return status(call, organisationId);
  }
  if (cell === undefined) throw new WrongUsage('Say to which cell, or --status.');
  const service = call.service();
  const { pause } = await service.ask('POST', path(organisationId), begunSchema, { cell });
  const size = `${Math.ceil(pause.bytes / 1_000_000)} MB`;
  call.answer({ pause }, `its writes will pause for some ${pause.seconds} s (${size}), once turns that run have ended`);
  return follow(call, service, organisationId);
}

export const moveCommand: Command = {
  name: 'move',
  usage: '<org> <cell>',
  does: 'Moves an organisation to another cell and tells each step. The move goes on when this command is stopped.',
  arity: [1, 2],
  options: { status: { does: 'only say how far the move of <org> is' } },
  run,
};
