/** Why a link could not become knowledge, in words for the person who added it. */

/** `message` is a whole sentence: it is stored with the source and shown; it names no address, path or library. */
export class LinkError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LinkError';
  }
}
