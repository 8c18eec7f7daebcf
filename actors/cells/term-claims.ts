/**
 * Claims of terms in Redis (CELL-16): one for each term of a cell, made once, so that of two hosts that would take a cell over one does. It
 * is changed when its directory comes to lie elsewhere. Sealed: who reads or writes Redis learns and forges none. Redis may lose them all: `none` of a term says nothing then.
 */
import * as v from 'valibot';
import type { CellTerm } from '../../storage/moving/cell-term.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import type { RedisConnection } from '../cluster/bus/redis-connection.ts';
import type { ClaimPlace } from './term-fence.ts';

const TERMS_KEY = 'assistant:terms';

const claimSchema = v.object({
  /** The machine and the data directory that serve in this term. */
  host: v.string(),
  data_dir: v.string(),
  at_ms: v.number(),
  /** Of that directory (directory-seat.ts), and of the one that waits for the claim. Claims of earlier releases have none. */
  seat: v.optional(v.string()),
  next: v.optional(v.string()),
});
export type TermClaim = v.InferOutput<typeof claimSchema>;

export type ClaimsRedis = Pick<RedisConnection, 'hashSetNew' | 'hashSwap' | 'hashGet'>;

function fieldOf({ cell, term }: CellTerm): string {
  return `${cell} ${term}`;
}

function sealsOf(vault: Pick<Vault, 'seal' | 'open'>) {
  const purposeOf = (of: CellTerm) => `cell term ${fieldOf(of)}`;
  return {
    seal: (of: CellTerm, claim: TermClaim) => vault.seal(purposeOf(of), Buffer.from(JSON.stringify(claim))).toString('base64url'),
    open(of: CellTerm, sealed: string): TermClaim | undefined {
      try {
        const said: unknown = JSON.parse(vault.open(purposeOf(of), Buffer.from(sealed, 'base64url')).toString('utf8'));
        const checked = v.safeParse(claimSchema, said);
        return checked.success ? checked.output : undefined;
      } catch {
        // No cell with this master key wrote it.
        return undefined;
      }
    },
  };
}

export interface TermClaims {
  /** Undefined: there is none, or Redis lost it. @throws while Redis is away */
  read(of: CellTerm): Promise<TermClaim | undefined>;
  /** Claims the term unless somebody has; whose claim stands then. @throws while Redis is away */
  make(of: CellTerm, claim: TermClaim): Promise<TermClaim>;
}

/** The claims as a place where the fence looks. `claim`: what this directory puts there. */
export function claimsAsPlace(redis: ClaimsRedis, vault: Pick<Vault, 'seal' | 'open'>, own: CellTerm, claim: TermClaim): ClaimPlace {
  const seals = sealsOf(vault);
  const field = fieldOf(own);
  const readRaw = async () => {
    const sealed = await redis.hashGet(TERMS_KEY, field);
    return { sealed, standing: sealed === undefined ? undefined : seals.open(own, sealed) };
  };
  return {
    async read() {
      const later = { ...own, term: own.term + 1 };
      if ((await createTermClaims(redis, vault).read(later)) !== undefined) return 'later';
      // What no cell with this master key wrote is no claim: whoever writes to Redis may not hold a take-over up.
      const { standing } = await readRaw();
      return standing && { seat: standing.seat, next: standing.next, by: `${standing.data_dir} on ${standing.host}` };
    },
    async replace(was, is) {
      const { sealed, standing } = await readRaw();
      if (standing === undefined || was === undefined)
        return standing === undefined && was === undefined && claimAnew(redis, field, sealed, seals.seal(own, claim));
      if (sealed === undefined || standing.seat !== was.seat || standing.next !== was.next) return false;
      const next = is.seat === standing.seat ? { ...standing, next: is.next } : claim;
      return redis.hashSwap(TERMS_KEY, field, sealed, seals.seal(own, next));
    },
  };
}

/** Makes the claim where there is none; `garbage`: what stands in its place and is none. */
function claimAnew(redis: ClaimsRedis, field: string, garbage: string | undefined, claim: string): Promise<boolean> {
  return garbage === undefined ? redis.hashSetNew(TERMS_KEY, field, claim) : redis.hashSwap(TERMS_KEY, field, garbage, claim);
}

export function createTermClaims(redis: ClaimsRedis, vault: Pick<Vault, 'seal' | 'open'>): TermClaims {
  const seals = sealsOf(vault);
  const readRaw = async (of: CellTerm) => {
    const sealed = await redis.hashGet(TERMS_KEY, fieldOf(of));
    return { sealed, standing: sealed === undefined ? undefined : seals.open(of, sealed) };
  };
  return {
    read: async (of) => (await readRaw(of)).standing,
    async make(of, claim) {
      const mine = seals.seal(of, claim);
      const before = await readRaw(of);
      if (before.standing === undefined && (await claimAnew(redis, fieldOf(of), before.sealed, mine))) return claim;
      const { standing } = await readRaw(of);
      if (standing === undefined)
        throw new Error(`what stands in Redis for term ${of.term} of cell ${of.cell} is no claim of these cells, and changes all the time`);
      return standing;
    },
  };
}
