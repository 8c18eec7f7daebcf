/** Configuration of the continuous replica (REPLICA-1). */
import * as v from 'valibot';
import { withoutEnd } from '../protocol/schema/text.ts';
import { ConfigError, httpUrl, type Settings } from './settings.ts';

export interface ReplicaConfig {
  /** Where to, without a slash at its end. May hold a password: it is shown by `shownUrl` only. */
  readonly url: string;
  /** Litestream's program: a path, or a name on the PATH. */
  readonly bin: string;
  /** Seconds that the replica may be behind before the service says that it is degraded. */
  readonly lagMaxS: number;
  /** The master key goes along with the files. */
  readonly includeKey: boolean;
  /** The server of an `s3://` address; `endpoint` undefined: Amazon's. */
  readonly s3: S3Config;
}

export interface S3Config {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
}

const REGION_FORM = /^[0-9a-z-]{1,40}$/;

/** Undefined without REPLICA_URL, whatever else is set. @throws ConfigError for an address without what its kind needs. */
export function replicaOf(read: Settings): ReplicaConfig | undefined {
  if (read.REPLICA_URL === undefined) return undefined;
  const url = withoutEnd(read.REPLICA_URL, '/');
  if (url.startsWith('s3://') && new URL(url).hostname === '')
    throw new ConfigError('REPLICA_URL', 'set to something else', 'an s3 address names a bucket');
  // Other programs read these as well, so without a replica they may hold anything.
  if (!REGION_FORM.test(read.AWS_REGION)) throw new ConfigError('AWS_REGION', 'set to something else', 'it must be the name of a region');
  const endpoint = read.AWS_ENDPOINT_URL;
  if (endpoint !== undefined && !v.is(httpUrl, endpoint))
    throw new ConfigError('AWS_ENDPOINT_URL', 'set to something else', 'it must be an http or https address');
  return {
    url,
    bin: read.LITESTREAM_BIN,
    lagMaxS: read.REPLICA_LAG_MAX_S,
    includeKey: read.REPLICA_INCLUDE_KEY,
    s3: {
      endpoint: endpoint === undefined ? undefined : withoutEnd(endpoint, '/'),
      region: read.AWS_REGION,
      accessKeyId: read.AWS_ACCESS_KEY_ID,
      secretAccessKey: read.AWS_SECRET_ACCESS_KEY,
    },
  };
}
