import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINKS_AT_ONCE, LinkQueue } from '../../../actors/knowledge/link-queue.ts';

interface Job {
  readonly organisationId: string;
  readonly sourceId: string;
  readonly signal: AbortSignal;
  end(atRest: boolean | Error): Promise<void>;
}

/** A queue over links in memory, whose work the test ends. */
function playedQueue(links: Record<string, string[]>) {
  const jobs: Job[] = [];
  const logged: string[] = [];
  const queue = new LinkQueue({
    log: { error: (_fields, message) => void logged.push(message) },
    atRest: () => false,
    next(organisationId, running) {
      if (links[organisationId] === undefined) throw new Error('no such organisation');
      const id = links[organisationId].find((each) => !running.has(each));
      return id === undefined ? undefined : { id, alone: id.endsWith('!') };
    },
    work: (organisationId, sourceId, signal) =>
      new Promise<boolean>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        const end = async (atRest: boolean | Error) => {
          jobs.splice(jobs.indexOf(job), 1);
          if (atRest === true) links[organisationId]?.splice(links[organisationId].indexOf(sourceId), 1);
          if (atRest instanceof Error) reject(atRest);
          else resolve(atRest);
          // The queue takes its next step when the promises of this one are through.
          await new Promise((done) => setImmediate(done));
        };
        const job: Job = { organisationId, sourceId, signal, end };
        jobs.push(job);
      }),
  });
  return { queue, jobs, logged, at: () => jobs.map(({ sourceId }) => sourceId) };
}

test(`LINK-4: ${LINKS_AT_ONCE} links are read at once, and organisations alternate`, async () => {
  const { queue, jobs, at } = playedQueue({ many: ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'], few: ['b1'] });
  queue.wake('many');
  assert.deepEqual(at(), ['a1', 'a2', 'a3', 'a4']);
  queue.wake('few');
  assert.equal(jobs.length, LINKS_AT_ONCE);
  await jobs[0]?.end(true);
  await jobs[0]?.end(true);
  assert.deepEqual(at().slice(-2).sort(), ['a5', 'b1'], 'the one link of the other organisation does not wait for all seven');
  while (jobs.length > 0) await jobs[0]?.end(true);
  await queue.close();
});

test('LINK-1: who waits for a link is told when it is at rest, not when it has to be read again', async () => {
  const { queue, jobs } = playedQueue({ org: ['a'] });
  let told = 0;
  const waits = [1, 2].map(() => queue.settled('org', 'a', 60_000).then(() => (told += 1)));
  await jobs[0]?.end(false);
  assert.deepEqual([told, jobs.length], [0, 1]);
  await jobs[0]?.end(true);
  await Promise.all(waits);
  assert.deepEqual([told, jobs.length], [2, 0]);
  await queue.close();
});

test('LINK-1: nobody waits longer than asked, and the reading goes on', async () => {
  const { queue, jobs } = playedQueue({ org: ['a'] });
  await queue.settled('org', 'a', 5);
  assert.equal(jobs.length, 1);
  await jobs[0]?.end(true);
  await queue.close();
});

test('LINK-4: a failure of ours is logged, frees who waits and stops no other organisation; the link is tried again when it is sent again', async () => {
  const { queue, jobs, logged, at } = playedQueue({ ill: ['a'], well: ['b1', 'b2'] });
  const waits = queue.settled('ill', 'a', 60_000);
  await jobs[0]?.end(new Error('the disk is full'));
  await waits;
  assert.deepEqual([logged, at()], [['indexing a link failed: trying again later'], []]);
  queue.wake('well');
  assert.deepEqual(at(), ['b1', 'b2']);
  queue.wake('ill');
  assert.deepEqual(at(), ['b1', 'b2', 'a']);
  queue.wake('gone');
  assert.equal(logged.at(-1), 'looking for links to index failed');
  await queue.close();
});

test('LINK-4: closing cuts off what is read, frees who waits and takes nothing new', async () => {
  const { queue, jobs, logged } = playedQueue({ org: ['a', 'b', 'c', 'd', 'e'] });
  const waits = ['a', 'e'].map((id) => queue.settled('org', id, 60_000));
  const signals = jobs.map(({ signal }) => signal);
  await Promise.all([queue.close(), queue.close()]);
  await Promise.all(waits);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true, true, true],
  );
  queue.wake('org');
  await queue.settled('org', 'e', 60_000);
  assert.deepEqual([jobs.length, logged], [LINKS_AT_ONCE, []]);
});

test('LINK-5: a link in whose reading a process ended is read alone, after those that wait in its organisation', async () => {
  const { queue, jobs, at } = playedQueue({ org: ['a', 'b', 'c!'], other: ['d'] });
  queue.wake('org');
  assert.deepEqual(at(), ['a', 'b']);
  queue.wake('other');
  await jobs[0]?.end(true);
  assert.deepEqual(at(), ['b'], 'it waits until nothing else is read');
  await jobs[0]?.end(true);
  assert.deepEqual(at(), ['c!']);
  queue.wake('other');
  assert.deepEqual(at(), ['c!'], 'nothing is read beside it');
  await jobs[0]?.end(true);
  assert.deepEqual(at(), ['d']);
  await jobs[0]?.end(true);
  assert.deepEqual(at(), []);
  await queue.close();
});

test('LINK-5: a link that is to be read alone waits for those that are being read, not for those that keep coming', async () => {
  const { queue, jobs, at } = playedQueue({ org: ['a!', 'b!'], busy: ['c', 'd', 'e', 'f', 'g', 'h'] });
  queue.wake('busy');
  assert.deepEqual(at(), ['c', 'd', 'e', 'f']);
  queue.wake('org');
  await jobs[0]?.end(true);
  // The busy one came first to its next turn; from now on it is the other's.
  const begun = at();
  while (!at().includes('a!')) {
    assert.ok(begun.includes(at()[0] as string), `${at()} was begun before it`);
    await jobs[0]?.end(true);
  }
  assert.deepEqual(at(), ['a!']);
  await jobs[0]?.end(true);
  assert.ok(!at().includes('b!'), 'the others have their turn between');
  while (jobs.length > 0) await jobs[0]?.end(true);
  await queue.close();
});
