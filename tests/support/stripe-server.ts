/**
 * A server that is shaped like Stripe where top-ups touch it: customers, payment intents, idempotency keys. It charges
 * cards of its own making, and can lose answers after the charge was made.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { serveFake } from './fake-server.ts';

export interface Intent {
  readonly id: string;
  readonly amount: number;
  readonly customer: string;
  readonly status: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface StripeServer {
  readonly url: string;
  /** Payments that were made. */
  readonly intents: readonly Intent[];
  /** Requests as `POST /v1/payment_intents`, in order. */
  readonly requests: readonly string[];
  /** Authorization headers seen. */
  readonly keys: ReadonlySet<string>;
  /** From now on charges are made, and their answers are lost with the connection, until told otherwise. */
  loseAnswers(losing: boolean): void;
  /** From now on charges are made and their answers held until `release`. */
  holdAnswers(): { release(): void };
  /** From now on every request gets this status, null: none does. */
  fail(status: number | null): void;
  decline(message: string | null): void;
  /** What a customer's default payment method is; null: none. */
  card(method: string | null): void;
  /** Forgets idempotency keys, as happens after a day. */
  forgetKeys(): void;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const CREATE = 'POST /v1/payment_intents';

function errorBody(type: string, message: string, code?: string): unknown {
  return { error: { type, message, ...(code === undefined ? {} : { code }) } };
}

async function formOf(req: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

function send(res: ServerResponse, { status, body }: Answer): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': 'req_1' });
  res.end(JSON.stringify(body));
}

export async function startStripeServer(t: TestContext): Promise<StripeServer> {
  const intents: Intent[] = [];
  const requests: string[] = [];
  const keys = new Set<string>();
  let remembered = new Map<string, { form: string; answer: Answer }>();
  let losing = false;
  let held: Promise<void> | null = null;
  let failing: number | null = null;
  let declined: string | null = null;
  let method: string | null = 'pm_card';

  const create = (form: URLSearchParams): Answer => {
    const status = declined === null ? 'succeeded' : 'requires_payment_method';
    const intent = {
      id: `pi_${intents.length + 1}`,
      object: 'payment_intent',
      amount: Number(form.get('amount')),
      customer: form.get('customer') ?? '',
      status,
      metadata: { top_up_id: form.get('metadata[top_up_id]') ?? '' },
      last_payment_error: declined === null ? null : { message: declined },
    };
    intents.push(intent);
    return declined === null ? { status: 200, body: intent } : { status: 402, body: errorBody('card_error', declined, 'card_declined') };
  };

  const answerOf = (line: string, form: URLSearchParams, key: string): Answer => {
    if (failing !== null) return { status: failing, body: errorBody(failing === 401 ? 'invalid_request_error' : 'api_error', 'failing') };
    if (line === CREATE) {
      const known = remembered.get(key);
      const text = form.toString();
      if (known !== undefined && known.form !== text) return { status: 400, body: errorBody('idempotency_error', 'Keys differ.') };
      const answer = known?.answer ?? create(form);
      remembered.set(key, { form: text, answer });
      return answer;
    }
    if (line.startsWith('GET /v1/payment_intents?'))
      return { status: 200, body: { object: 'list', data: [...intents].reverse(), has_more: false } };
    const customer = /^GET \/v1\/customers\/(cus_\w+)$/.exec(line)?.[1];
    if (customer === undefined || customer === 'cus_unknown')
      return { status: 404, body: errorBody('invalid_request_error', 'No such customer') };
    return { status: 200, body: { id: customer, object: 'customer', invoice_settings: { default_payment_method: method } } };
  };

  const { url, close } = await serveFake(async (req, res) => {
    const form = await formOf(req);
    const line = `${req.method} ${req.url}`;
    requests.push(line);
    keys.add(req.headers.authorization ?? '');
    const answer = answerOf(line, form, String(req.headers['idempotency-key']));
    if (line === CREATE && losing) {
      req.socket.destroy();
      return;
    }
    if (line === CREATE && held !== null) await held;
    send(res, answer);
  });
  t.after(close);
  return {
    url: url(),
    intents,
    requests,
    keys,
    loseAnswers(next) {
      losing = next;
    },
    holdAnswers() {
      let release = () => {};
      held = new Promise((resolve) => {
        release = () => {
          held = null;
          resolve();
        };
      });
      return { release: () => release() };
    },
    fail(status) {
      failing = status;
    },
    decline(message) {
      declined = message;
    },
    card(next) {
      method = next;
    },
    forgetKeys() {
      remembered = new Map();
    },
  };
}
