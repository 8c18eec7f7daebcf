/** A tag whose bracket the service took, so that nobody reads it as HTML: it is told and copied as it was written. */
const DEFUSED_TAG = /‹(?=[a-z/!?][^‹›<>]{0,200}>)/gi;

export function asWritten(text: string): string {
  return text.replaceAll(DEFUSED_TAG, '<');
}
