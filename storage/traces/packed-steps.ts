/**
 * The steps of a trace as a file holds them: their text, deflated with a dictionary (RFC 1951) of what such texts say. Most pieces say the same
 * in the same order, so that some 450 characters of a turn become 50 bytes.
 *
 * Invariant: a dictionary that was ever used stays, byte for byte, under its number. Another one gets the next number.
 */
import { deflateRawSync, inflateRawSync, constants as zlib } from 'node:zlib';
import { blob } from '../sqlite/columns.ts';

/** What steps say, the commonest last, where deflate looks first. Words that machines gave up cost nothing; new ones keep their length. */
const DICTIONARY_1 = Buffer.from(
  [
    '"indexing.stopped""indexing.failed","error":"[text]"}"source.restored""source.archived""source.updated""indexing.finished""indexing.began"',
    'pending,ready,failed,archived,{"type":"admit","restart":true}{"type":"session.stop"}{"type":"session.fail"}{"type":"session.replaced"}',
    '{"type":"refuse","code":"not_started"}{"type":"refuse","code":"session_closed"}{"type":"refuse","code":"already_claimed"}',
    '{"type":"session.expire","nowMs":17954"expired""cancelled"{"type":"closePanel","outcome":"completed"}"session.completed""app.live"',
    '{"type":"session.claim","agent":{"name":"[text]","model":"[text]","version":"[text]"},"nowMs":17954,"appLive":false},"claimed"',
    '{"type":"session.call","nowMs":17954,"appLive":false},"working","session.claimed"',
    '"input":{"kind":"setup","sync":false,"createdAtMs":17954,"expiresAtMs":17954,"completed":false,"clarified":false}',
    '"{\\"step\\":\\"waiting\\",\\"step\\":\\"pending\\",\\"step\\":\\"active\\",\\"step\\":\\"done\\",\\"step\\":\\"skipped\\",\\"step\\":\\"failed\\"}"',
    '{"type":"step.observed","step":"{"type":"step.written","step":"{"type":"step.reported","step":"connect","status":"done"},',
    '"input":{"risk":"read","executor":"client","callId":"[text]"}"confirm","expiresAtMs":17954"decline""edit.begin""edit.accept""edit.reject"',
    '{"type":"expire","nowMs":17954},"expired"{"type":"result.received","outcome":"succeeded"},"succeeded""process.lost""unknown""failed"',
    '{"type":"execution.settled","outcome":"succeeded"}"execution.started","executing"{"type":"dispatch","expiresAtMs":17954},"dispatched"',
    '{"type":"turn.interrupted","failure":{"code":"interrupted","retryable":true,"message":"[text]"}}"abortModel""turn.retry""turn.stop""stopping"',
    '{"type":"round.failed","failure":{"code":"model_unavailable","message":"[text]","retryable":true}},"failed",{"type":"sendError","failure":',
    '{"type":"endTurn","status":"error","stopped":false}{"type":"endTurn","status":"awaiting_tool_results","stopped":false}"turn.resumed"',
    '"executeActions","calls.settled""runCalls","calling"{"type":"endTurn","status":"awaiting_confirmation","stopped":false}"awaiting"',
    ',0],[1,0],[2,0],{"type":"sendBlock","blockId":"blk_1m{"at":17954,"from":"answering","steps":[[0,{"type":"callModel","round":2}',
    '{"at":17954,"from":"new","steps":[[0,{"type":"turn.open","serverCalls":0,"waiting":{"reads":0,"confirmations":0}},"answering","sendStart",',
    '{"type":"callModel","round":1}],[3,{"type":"block.completed","blockId":"blk_1m"},0,{"type":"sendBlock","blockId":"blk_1m"}],',
    '[3,{"type":"round.finished","serverCalls":0,"waiting":{"reads":0,"confirmations":0}},"completed",',
    '{"type":"endTurn","status":"completed","stopped":false}]]}',
  ].join(''),
);

/** The same, and what a round cost. */
const DICTIONARY_2 = Buffer.concat([
  Buffer.from('"cost":{"admittedMs":1,"preparedMs":1,"firstMs":100,"inputTokens":3000,"outputTokens":100}'),
  DICTIONARY_1,
]);

const DICTIONARIES: ReadonlyMap<number, Buffer> = new Map([
  [1, DICTIONARY_1],
  [2, DICTIONARY_2],
]);
/** With which pieces are made now. */
const NUMBER = 2;

/**
 * A window of 4 KiB holds the dictionary and a piece of many steps. More memory than this costs time: it is set to zero for each piece. Level 1
 * makes pieces as small as 9 does here.
 */
const OPTIONS = { level: zlib.Z_BEST_SPEED, windowBits: 12, memLevel: 2, dictionary: DICTIONARY_2 } as const;

/** The 320 steps of a piece, with what a trace keeps of each, are far below it: more is none of ours. */
const STEPS_CHARS_MAX = 8 * 1_024 * 1_024;

/** Takes some 10 µs for a turn's steps. */
export function packedSteps(steps: string): Buffer {
  return Buffer.concat([Buffer.of(NUMBER), deflateRawSync(steps, OPTIONS)]);
}

function unpacked(packed: Buffer): string {
  const dictionary = DICTIONARIES.get(packed[0] ?? 0);
  if (dictionary === undefined)
    throw new TypeError(`steps are packed with dictionary ${String(packed[0])}, which this release does not know`);
  return inflateRawSync(packed.subarray(1), { dictionary, maxOutputLength: STEPS_CHARS_MAX }).toString();
}

export const stepsText = blob.to(unpacked);
