/** Who owns a conversation (PERSON-6, HISTORY-3, HISTORY-7, HISTORY-8), and what a caller may act on (PERSON-13 to PERSON-17). */

import { type ConversationRow, readConversation } from '../../storage/conversations/conversations.ts';
import type { Holder } from '../../storage/conversations/own-conversations.ts';
import type { TurnSender } from '../../storage/conversations/turns.ts';
import { type DeviceBinding, readBinding } from '../../storage/people/devices.ts';
import { readEndUser } from '../../storage/people/end-users.ts';
import type { Connection } from '../../storage/sqlite/connection.ts';
import type { Caller } from '../caller.ts';

interface Seen {
  readonly conversation: ConversationRow | undefined;
  readonly binding: DeviceBinding | undefined;
  readonly isOwn: boolean;
  /** It is theirs only by the name of a person, which anybody can give, and it was not held on this device. */
  readonly isByName: boolean;
}

function see(db: Connection, id: string, { appId, channel, deviceId, person }: Caller): Seen {
  // Always read everything: the time must not tell a missing id from another person's.
  const row = readConversation(db, id);
  const binding = readBinding(db, appId, channel, deviceId);
  const signer = person === null ? undefined : readEndUser(db, appId, channel, person)?.id;
  if (row?.appId !== appId || row.channel !== channel) return { conversation: undefined, binding, isOwn: false, isByName: false };
  const isHeldHere = row.deviceId === deviceId;
  if (row.endUserId === null) return { conversation: row, binding, isOwn: isHeldHere, isByName: false };
  const isTheirs = binding === undefined ? isHeldHere && deviceId !== '' : binding.endUserId === row.endUserId;
  const isSigned = signer === row.endUserId;
  const isByName = isTheirs && !isSigned && !isHeldHere && binding?.proven === false;
  return { conversation: row, binding, isOwn: isTheirs || isSigned, isByName };
}

/**
 * The conversation with this id if it is the caller's. Undefined when it is missing or belongs to another app, channel, device or person.
 * An anonymous conversation belongs to its device. A person's is seen by whoever signs as that person, from every device that is bound to the
 * person, and from the device it was held on as long as that is bound to nobody else. Callers without a device share one, so they never see
 * a person's unsigned. A device that is bound without a signature reads by knowing the conversation's id, which is only on devices that read it.
 */
export function ownConversation(db: Connection, id: string, caller: Caller): ConversationRow | undefined {
  const { conversation, isOwn } = see(db, id, caller);
  return isOwn ? conversation : undefined;
}

/** To a caller who knows no id. Unsigned: only what was held on the device; callers without one share it, so nothing is listed to them. */
export function holderOf(db: Connection, { appId, channel, deviceId, person }: Caller): Holder {
  const bound = deviceId === '' ? undefined : readBinding(db, appId, channel, deviceId);
  const signer = person === null ? undefined : readEndUser(db, appId, channel, person)?.id;
  const proven = bound?.proven === true ? bound.endUserId : undefined;
  const people = [...new Set([proven, signer])].filter((id) => id !== undefined);
  return { appId, channel, deviceId, boundTo: bound?.endUserId ?? null, people };
}

/** Its owner, but never by name alone, and the sending device until another person is identified there. `sender` undefined: no turn. */
export function actedConversation(db: Connection, id: string, sender: TurnSender | undefined, caller: Caller): ConversationRow | undefined {
  const { conversation, binding, isOwn, isByName } = see(db, id, caller);
  if ((isOwn && !isByName) || conversation === undefined) return conversation;
  if (sender === undefined || caller.deviceId === '' || sender.deviceId !== caller.deviceId) return undefined;
  return isOwn || binding === undefined || binding.sinceMs <= sender.openedAtMs ? conversation : undefined;
}
