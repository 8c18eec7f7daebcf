/**
 * Whose a conversation is: the one rule behind history, confirmations, feedback and ratings, for requests that name a device
 * and no person (service.md "Authentication" rule 5). A turn, which may name a person, has its own rule in system.ts.
 */
import type { Connection } from '../storage/connection.ts';
import { type ConversationRow, readConversation } from '../storage/conversations.ts';
import { readBinding } from '../storage/devices.ts';
import type { Channel } from '../storage/organisations.ts';

/** Who asks, where a request is its device's and names no person. */
export interface DeviceCaller {
  readonly organisationId: string;
  readonly appId: string;
  readonly channel: Channel;
  /** '' when the caller sent none. */
  readonly deviceId: string;
}

/**
 * The conversation with this id if it is the caller's; undefined when it is missing, and when it is somebody else's: of another
 * app, the other kind of key, another device or another person. An anonymous one is its device's. A person's is seen from
 * every device that is bound to the person, and from the device it was held on as long as that is bound to nobody else.
 * Callers without a device share one, so a person's is never shown to them.
 */
export function ownConversation(db: Connection, id: string, { appId, channel, deviceId }: DeviceCaller): ConversationRow | undefined {
  // Both are read whatever the other says: how long the answer takes must not tell a missing id from a stranger's.
  const conversation = readConversation(db, id);
  const person = readBinding(db, appId, channel, deviceId);
  if (conversation?.appId !== appId || conversation.channel !== channel) return undefined;
  const isHeldHere = conversation.deviceId === deviceId;
  if (conversation.endUserId === null) return isHeldHere ? conversation : undefined;
  const isTheirs = person === undefined ? isHeldHere && deviceId !== '' : person.endUserId === conversation.endUserId;
  return isTheirs ? conversation : undefined;
}
