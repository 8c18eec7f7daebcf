/** What the service prints when it is up: where it is, how to watch it, and one line that gets an answer. */
import { CATALOG_VERSION } from '../protocol/limits.ts';

export interface DemoKeys {
  readonly live: string;
  readonly test: string;
}

export interface BannerFacts {
  readonly publicUrl: string;
  readonly model: string;
  /** What is wrong with the model, in one line; undefined: nothing known. */
  readonly modelComplaint?: string | undefined;
  readonly dataDir: string;
  /** Links and HTTP actions may reach private addresses. */
  readonly allowPrivateAddresses: boolean;
  readonly demo: DemoKeys | undefined;
  /** Others than this machine's users may reach the service. */
  readonly isExposed: boolean;
  readonly consoleLink: string;
  /** The operator token where this start minted it: it is shown now and never again. */
  readonly minted?: string | undefined;
  /** Processes that share the port; undefined: this one is alone. */
  readonly workers?: number | undefined;
}

/** Not a secret: any 32 hex characters name an installation of the app. */
const DEMO_DEVICE = '0123456789abcdef0123456789abcdef';

function curlLine(publicUrl: string, key: string): string {
  const client = `{"protocol":1,"sdk":"web/0.50.0","catalog_version":"${CATALOG_VERSION}","components":["text","key_points","quick_replies"]}`;
  const body = `{"message":{"text":"How long does delivery take?"},"client":${client}}`;
  return `curl -N ${publicUrl}/v1/chat -H 'X-Service-Key: ${key}' -H 'X-Service-Device: ${DEMO_DEVICE}' -H 'Content-Type: application/json' -d '${body}'`;
}

export function banner({
  publicUrl,
  model,
  modelComplaint,
  dataDir,
  allowPrivateAddresses,
  demo,
  isExposed,
  consoleLink,
  minted,
  workers,
}: BannerFacts): string {
  const facts = [
    ...(demo === undefined ? [] : [['demo', `${publicUrl}/demo`]]),
    ['runtime', `${publicUrl}/v1`],
    ['console', `${consoleLink} (this link works once)`],
    ['interface', `${publicUrl}/console/api`],
    ...(minted === undefined ? [] : [['operator', `${minted} (the operator token: keep it, it is shown this once)`]]),
    ['model', model],
    ...(modelComplaint === undefined ? [] : [['warning', modelComplaint]]),
    ['data', dataDir],
    ...(workers === undefined ? [] : [['workers', String(workers)]]),
    ...(allowPrivateAddresses ? [['warning', 'ALLOW_PRIVATE_ADDRESSES is on: links may reach private addresses (development only)']] : []),
    ...(demo !== undefined && isExposed
      ? [['warning', 'DEMO is on: whoever reaches this address may ask the demo (200 turns and 1 USD a day, unless you set it otherwise)']]
      : []),
    ...(demo === undefined
      ? []
      : [
          ['live key', demo.live],
          ['test key', demo.test],
        ]),
  ];
  const lines = facts.map(([name = '', value]) => `  ${name.padEnd(10)} ${value}`);
  const ask = demo === undefined ? [] : ['', 'Ask it something:', '', curlLine(publicUrl, demo.live)];
  return `${['Assistant Service is up.', '', ...lines, ...ask, ''].join('\n')}\n`;
}
