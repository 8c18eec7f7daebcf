import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { packedSteps, stepsText } from '../../../storage/traces/packed-steps.ts';

const TURN =
  '{"at":1795428555281,"from":"new","steps":[[0,{"type":"turn.open","serverCalls":0,"waiting":{"reads":0,"confirmations":0}},"answering","sendStart",' +
  '{"type":"callModel","round":1}],[3,{"type":"block.completed","blockId":"blk_1m83y36gm64nh9b5f7v9vnc8"},0,{"type":"sendBlock","blockId":' +
  '"blk_1m83y36gm64nh9b5f7v9vnc8"}],[3,{"type":"round.finished","serverCalls":0,"waiting":{"reads":0,"confirmations":0}},"completed",' +
  '{"type":"endTurn","status":"completed","stopped":false}]]}';

/** As the first release packed `TURN`: files that hold such bytes are read for as long as they are kept. */
const PACKED = 'AUOKICMLU1NTIwvDYRVRFsaVxmbpuWYmeRmWSaZp5mWWZXnJFsRHHy79gzpSAQ==';

const COST = '"cost":{"admittedMs":2,"preparedMs":1,"firstMs":412,"inputTokens":3329,"outputTokens":123}';
const TIMED = TURN.replace('"confirmations":0}},"completed"', `"confirmations":0},${COST}},"completed"`);
/** As the second dictionary packs it. */
const PACKED_2 = 'AkOKICMLU1NTIwtQo3L4RJSFcaWxWXqumUlehmWSaZp5mWVZXrIF8dGHSz9NIhUUp5iNfiPcjX4TQyP0Rr+xkSVGo9/ImGrpBQA=';

test('TRACE-1: steps are read as they were packed, whatever they say', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json({ maxDepth: 3 }), fc.string({ unit: 'grapheme', maxLength: 2_000 })), (steps) => {
      assert.equal(stepsText.read(packedSteps(steps), 'steps'), steps);
    }),
  );
});

test('TRACE-1: what an earlier release packed is read, and a plain turn takes less than 64 bytes', () => {
  assert.equal(stepsText.read(Buffer.from(PACKED, 'base64'), 'steps'), TURN);
  assert.ok(packedSteps(TURN).length < 64, `${packedSteps(TURN).length} bytes`);
  assert.equal(stepsText.read(Buffer.from(PACKED_2, 'base64'), 'steps'), TIMED);
  assert.ok(packedSteps(TIMED).length < 96, `${packedSteps(TIMED).length} bytes`);
});

test('TRACE-1: bytes that are no steps are refused', () => {
  assert.throws(() => stepsText.read(Buffer.of(3, 3, 0), 'steps'), /dictionary 3, which this release does not know/);
  assert.throws(() => stepsText.read(Buffer.of(1, 255, 255), 'steps'), /invalid/);
  assert.throws(() => stepsText.read('{"at":1}', 'steps'), /column steps holds string, not a blob/);
});
