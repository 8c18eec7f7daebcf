/** Who calls, and which app is meant: what actors are told of a request beside what it asks for. */
import type { Channel } from '../storage/organisations/organisations.ts';

/** An app, and the organisation whose file holds it. */
export interface AppRef {
  readonly organisationId: string;
  readonly appId: string;
}

/** Who asks: a device, and whoever signed the request. */
export interface Caller extends AppRef {
  readonly channel: Channel;
  /** '' when the caller sent none. */
  readonly deviceId: string;
  /** The id of the person whose valid signature came with the request; null or absent: nobody signed. */
  readonly person?: string | null;
}
