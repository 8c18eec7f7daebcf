/** Who sends a request, and to which app: what actors learn of a request beside its content. */
import type { Channel } from '../storage/organisations/organisations.ts';

/** An app, and the organisation whose file holds it. */
export interface AppRef {
  readonly organisationId: string;
  readonly appId: string;
}

/** The device that sends a request, and the person who signed it. */
export interface Caller extends AppRef {
  readonly channel: Channel;
  /** '' when the caller sent none. */
  readonly deviceId: string;
  /** The id of the person whose valid signature came with the request; null or absent: the request is not signed. */
  readonly person?: string | null;
  /** How limits name the client's address (HTTP-25); '' or absent where they do not count it. */
  readonly address?: string;
}
