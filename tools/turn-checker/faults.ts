/** The faults that a stream can have, each with its name and its meaning. */

export const FAULTS = {
  'frame.too_long': 'a frame is longer than any that the service sends; the rest of its stream was not read',
  'frame.unreadable': 'the data of a frame is no JSON object',
  'frame.unlike': 'a frame’s id or event differs from what its data says',
  'event.malformed': 'an event lacks a field, or has one of another type',
  'seq.gap': 'events were lost: numbers are missing that are no pings',
  'seq.repeated': 'an event arrived twice',
  'seq.order': 'an event arrived after one with a higher number',
  'start.missing': 'an event arrived before turn.start',
  'start.repeated': 'a second turn.start without a failed attempt before it',
  'end.missing': 'the stream ended without turn.end',
  'end.repeated': 'a second turn.end',
  'end.followed': 'an event arrived after turn.end',
  'end.empty': 'the turn completed without a block',
  'error.missing': 'turn.end with status error and no error event before it',
  'error.alone': 'an error event and no turn.end with status error after it',
  'block.order': 'a block does not begin at the next index',
  'block.unopened': 'a delta or a ready block without block.start',
  'block.closed': 'a delta for a block that is ready or is no text',
  'block.changed': 'a block became ready with another id or component than announced',
  'block.unready': 'a block was announced and never became ready',
  'block.invalid': 'a block does not fit the schema of its component',
  'block.unlisted': 'a block of a component that the handshake does not list',
  'text.differs': 'the deltas of a text block do not add up to its ready text',
  'action.pending': 'action.execute events and the pending calls of turn.end differ',
  'replay.differs': 'a replay differs from the first delivery of an event',
} as const;

export type FaultKind = keyof typeof FAULTS;

export interface Fault {
  readonly kind: FaultKind;
  /** The event at which it was found, where there is one. */
  readonly seq: number | undefined;
  /** What was found, in a few words. */
  readonly problem: string;
}
