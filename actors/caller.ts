/** Who sends a request, and to which app: what actors learn of a request beside its content. */
import type { Channel } from '../storage/organisations/organisations.ts';

export interface AppRef {
  readonly organisationId: string;
  readonly appId: string;
}

export interface ChannelRef extends AppRef {
  readonly channel: Channel;
}

export interface DeviceRef extends ChannelRef {
  /** '' when the request named none. */
  readonly deviceId: string;
}

export interface Caller extends DeviceRef {
  /** The id of the person whose valid signature came with the request; null: the request is not signed. */
  readonly person: string | null;
}
