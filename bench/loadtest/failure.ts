/** A way in which a request or a turn fails, as the service, the network or this program names it. */
export interface Failure {
  /** `429 rate_limited`, `internal (in the stream)`, `ECONNREFUSED`, or `cut` where a connection ended within an answer. */
  readonly code: string;
  readonly message: string;
}
