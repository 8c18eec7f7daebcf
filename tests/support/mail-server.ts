/** A real SMTP server on loopback: takes mails, refuses some recipients, or holds its answer to a mail that it has. */
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly to: string;
  /** Headers and text as sent. */
  readonly raw: string;
}

export interface MailServer {
  readonly url: string;
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** What a recipient is answered with, a status such as 550; 0: taken. */
  refuse(status: (to: string) => number): void;
  /** Called when a mail is there and its answer is not sent yet. */
  holdAnswer(wait: (mail: ReceivedMail) => Promise<void>): void;
  close(): Promise<void>;
}

/** `port` 0 takes a free one. */
export async function startMailServer(t: TestContext, port = 0): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let statusOf = (_to: string) => 0;
  let held = (_mail: ReceivedMail): Promise<void> => Promise.resolve();
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    // Whoever names a user is that user.
    onAuth: ({ username }, _session, done) => done(null, { user: username }),
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onRcptTo({ address }, _session, done) {
      const status = statusOf(address);
      done(status === 0 ? null : Object.assign(new Error('refused'), { responseCode: status }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const mail = { to: session.envelope.rcptTo[0]?.address ?? '', raw: Buffer.concat(chunks).toString('utf8') };
        received.push(mail);
        held(mail).then(() => done());
      });
    },
  });
  // A client that is killed in the middle resets its connection.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const taken = (server.server.address() as AddressInfo).port;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  t.after(close);
  return {
    url: `smtp://127.0.0.1:${taken}`,
    port: taken,
    received,
    refuse(status) {
      statusOf = status;
    },
    holdAnswer(wait) {
      held = wait;
    },
    close,
  };
}
