/** Speaks to a running node over the console interface, as the operator (RUN-27). */

import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { withoutEnd } from '../../protocol/schema/text.ts';
import { existingVault } from '../../storage/backup/backup-manifest.ts';
import { dataLayout } from '../../storage/data-layout.ts';
import { KEPT, operatorKey, operatorPass } from '../../storage/secrets/operator-token.ts';
import { type CliConfig, CommandFailed, type ConsoleClient } from './command.ts';

/** Listing actors waits for every node; a node that answers later than this is stuck. */
const TIMEOUT_MS = 15_000;

/** Nobody answered: the service may be on its way up or down. */
export class Unreachable extends CommandFailed {}

/** `http://HOST:PORT`, with an address that can be connected to where HOST is any. */
function ownAddress({ host, port }: CliConfig): string {
  const known: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const address = known[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** `--url`, PUBLIC_URL, or the address that HOST and PORT give. @throws CommandFailed for what is no http address. */
export function serviceUrl(given: string | undefined, config: () => CliConfig): string {
  const url = given ?? config().publicUrl ?? ownAddress(config());
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new CommandFailed(`${url} is no http or https address. Give --url the address of a node, such as http://127.0.0.1:8787.`);
  }
  return withoutEnd(url, '/');
}

const WHOSE = 'Set DATA_DIR to that of the service and run this as its user, or set OPERATOR_TOKEN.';

/** What DATA_DIR holds of the operator token: its digest. @throws CommandFailed when there is nothing. */
export function keptToken({ dataDir }: CliConfig): string {
  const file = dataLayout(dataDir).operatorToken;
  let kept: string;
  try {
    kept = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandFailed(`The operator token cannot be read from ${file} (${(error as NodeJS.ErrnoException).code}). ${WHOSE}`);
  }
  if (kept === '') throw new CommandFailed(`${file} is empty. ${WHOSE}`);
  return kept;
}

/**
 * What each request proves itself with: OPERATOR_TOKEN, or a pass made of the digest in DATA_DIR and the master key. Mints nothing.
 * @throws CommandFailed when there is neither.
 */
export function operatorBearer(config: CliConfig, nowMs: () => number): () => string {
  const { operatorToken, dataDir, masterKey } = config;
  if (operatorToken !== undefined) return () => operatorToken;
  const kept = keptToken(config);
  // The service of an older release, which runs, knows no pass.
  if (!KEPT.test(kept)) return () => kept;
  const vault = existingVault(dataLayout(dataDir), masterKey);
  if (vault === undefined) throw new CommandFailed('Set MASTER_KEY as the service has it, or OPERATOR_TOKEN.');
  const key = operatorKey(vault, kept);
  return () => operatorPass(key, nowMs());
}

const refusalSchema = v.object({ error: v.object({ code: v.string(), message: v.string() }) });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failure(baseUrl: string, status: number, body: unknown): CommandFailed {
  const refusal = v.safeParse(refusalSchema, body);
  if (status === 401) {
    return new CommandFailed(
      `The service at ${baseUrl} does not take this operator token. Set OPERATOR_TOKEN, or DATA_DIR and MASTER_KEY to those of the service.`,
    );
  }
  if (refusal.success) return new CommandFailed(refusal.output.error.message);
  return new CommandFailed(`${baseUrl} answered ${status}, and not as this service does. Give the address of a node with --url.`);
}

function unreachable(baseUrl: string, error: unknown): Unreachable {
  const { name, cause } = error as Error & { cause?: { code?: string } };
  const how = name === 'TimeoutError' ? `no answer within ${TIMEOUT_MS / 1_000} s` : (cause?.code ?? 'no connection');
  return new Unreachable(`The service at ${baseUrl} cannot be reached (${how}). Start it, or give the address of a node with --url.`);
}

export function createConsoleClient(baseUrl: string, bearer: () => string): ConsoleClient {
  return {
    baseUrl,
    async ask(method, path, schema, body) {
      let status: number;
      let text: string;
      try {
        const answer = await fetch(`${baseUrl}/console/api${path}`, {
          method,
          headers: { Authorization: `Bearer ${bearer()}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          // The token is for this address and no other.
          redirect: 'error',
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        status = answer.status;
        text = await answer.text();
      } catch (error) {
        throw unreachable(baseUrl, error);
      }
      if (status >= 300) throw failure(baseUrl, status, parsed(text));
      const result = v.safeParse(schema, parsed(text));
      if (!result.success) throw new CommandFailed(`${baseUrl}${path} answered in another form: is it this service, of this release?`);
      return result.output;
    },
  };
}
