/** Why texts have no vectors, in words for the log. */

export class EmbeddingError extends Error {
  /** `texts`: the server refused what it was sent, and may take other texts; `server`: it takes nothing now. */
  readonly about: 'texts' | 'server';

  /** `message` is a whole sentence without keys or texts. */
  constructor(about: 'texts' | 'server', message: string) {
    super(message);
    this.name = 'EmbeddingError';
    this.about = about;
  }
}
