/**
 * Claims of terms in Redis (CELL-16): one for each term of a cell, made once and never changed, so that of two hosts that would take a cell
 * over one does. Sealed: who reads or writes Redis learns and forges none. Redis may lose them all: `none` of a term says nothing then.
 */
import * as v from 'valibot';
import type { CellTerm } from '../../storage/moving/cell-term.ts';
import type { Vault } from '../../storage/secrets/vault.ts';
import type { RedisConnection } from '../cluster/bus/redis-connection.ts';

const TERMS_KEY = 'assistant:terms';

const claimSchema = v.object({
  /** The machine and the data directory that serve in this term. */
  host: v.string(),
  data_dir: v.string(),
  at_ms: v.number(),
});
export type TermClaim = v.InferOutput<typeof claimSchema>;

export type ClaimsRedis = Pick<RedisConnection, 'hashSetNew' | 'hashGet'>;

export interface TermClaims {
  /** Undefined: there is none, or Redis lost it. @throws while Redis is away */
  read(of: CellTerm): Promise<TermClaim | undefined>;
  /** Claims the term unless somebody has; whose claim stands then. @throws while Redis is away */
  make(of: CellTerm, claim: TermClaim): Promise<TermClaim>;
}

export function createTermClaims(redis: ClaimsRedis, vault: Pick<Vault, 'seal' | 'open'>): TermClaims {
  const fieldOf = ({ cell, term }: CellTerm) => `${cell} ${term}`;
  const purposeOf = (of: CellTerm) => `cell term ${fieldOf(of)}`;
  const read = async (of: CellTerm): Promise<TermClaim | undefined> => {
    const sealed = await redis.hashGet(TERMS_KEY, fieldOf(of));
    if (sealed === undefined) return undefined;
    try {
      const said: unknown = JSON.parse(vault.open(purposeOf(of), Buffer.from(sealed, 'base64url')).toString('utf8'));
      const checked = v.safeParse(claimSchema, said);
      return checked.success ? checked.output : undefined;
    } catch {
      // No cell with this master key wrote it.
      return undefined;
    }
  };
  return {
    read,
    async make(of, claim) {
      const sealed = vault.seal(purposeOf(of), Buffer.from(JSON.stringify(claim))).toString('base64url');
      if (await redis.hashSetNew(TERMS_KEY, fieldOf(of), sealed)) return claim;
      const standing = await read(of);
      if (standing === undefined)
        throw new Error(`the claim of term ${of.term} of cell ${of.cell} in Redis was made with another MASTER_KEY`);
      return standing;
    },
  };
}
