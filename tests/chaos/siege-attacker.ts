/** A stranger in a process of its own: sends one attack on one app for some seconds, from addresses of its own, and says what was answered. */
import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { ATTACKS, type AttackOrder, type Stranger } from './siege-attacks.ts';

export interface AttackReport {
  readonly sent: number;
  /** By status and, of refusals, code; what was not answered by why. */
  readonly answers: Readonly<Record<string, number>>;
}

/** A handful of machines: one address alone is soon refused. */
const ADDRESSES = 4;
/** Later than this nobody waits for an answer any more. */
const ANSWER_WITHIN_MS = 20_000;
/** Answers are looked at for the code of a refusal, and an id. */
const ANSWER_CHARS = 2_000;

function codeIn(text: string): string {
  return /"code":"(\w+)"/.exec(text)?.[1] ?? '';
}

function strange(order: AttackOrder): Stranger & { report(): AttackReport } {
  const answers: Record<string, number> = {};
  const addresses = Array.from({ length: ADDRESSES }, (_, index) => `127.0.${order.network}.${index + 1}`);
  const agents = addresses.map((localAddress) => new Agent({ localAddress, connections: 64 }));
  const untilMs = performance.now() + order.forMs;
  let sent = 0;
  let opened = 0;
  const count = (answer: string) => {
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  return {
    ...order,
    untilMs,
    count,
    async send(method, path, body, headers = {}) {
      const dispatcher = agents[sent++ % ADDRESSES] as Agent;
      try {
        const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
        const answer = await request(`${order.baseUrl}${path}`, { method: method as 'GET', headers, body, dispatcher, signal });
        let text = '';
        for await (const chunk of answer.body) if (text.length < ANSWER_CHARS) text += String(chunk);
        const code = codeIn(text);
        count(code === '' ? String(answer.statusCode) : `${answer.statusCode} ${code}`);
        return { status: answer.statusCode, text };
      } catch (error) {
        const { code, name } = error as NodeJS.ErrnoException;
        count(name === 'TimeoutError' ? 'no answer' : (code ?? name));
        return undefined;
      }
    },
    async keep(atOnce, work) {
      let round = 0;
      const one = async () => {
        while (performance.now() < untilMs) await work(round++);
      };
      await Promise.all(Array.from({ length: atOnce }, one));
    },
    open() {
      sent += 1;
      const { hostname, port } = new URL(order.baseUrl);
      const socket = connect({ host: hostname, port: Number(port), localAddress: addresses[opened++ % ADDRESSES] as string });
      socket.on('error', ({ code }: NodeJS.ErrnoException) => count(code ?? 'cut'));
      return socket;
    },
    report: () => ({ sent, answers }),
  };
}

if (process.send !== undefined) {
  process.once('message', async (order: AttackOrder) => {
    const stranger = strange(order);
    await ATTACKS[order.attack]?.(stranger);
    process.send?.(stranger.report(), () => process.exit(0));
  });
}
