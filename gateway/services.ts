/** What routes may use; put together once in main.ts. */
import type { Logger } from 'pino';
import type { Billing } from '../actors/billing/billing.ts';
import type { Confirmations } from '../actors/calls/confirmation.ts';
import type { Cells } from '../actors/cells/cells.ts';
import type { OrganisationMoves } from '../actors/cells/move.ts';
import type { MoveReceiver } from '../actors/cells/move-receiver.ts';
import type { SharedCounts } from '../actors/cluster/bus/shared-counts.ts';
import type { ClusterView } from '../actors/cluster/nodes/view.ts';
import type { WriteServices } from '../actors/configuration/writes.ts';
import type { NodeStore } from '../actors/node.ts';
import type { Pairings } from '../actors/pairing/pairings.ts';
import type { Setup } from '../actors/setup/setup.ts';
import type { SmokeRuns } from '../actors/smoke/run.ts';
import type { ActorSystem } from '../actors/turns/turns.ts';
import type { UploadIntake } from '../actors/uploads/intake.ts';
import type { Storage } from '../storage/storage.ts';
import type { LoadWatch } from '../watch/load-watch.ts';
import type { StallWatch } from '../watch/stall-watch.ts';
import type { Starts } from '../watch/starts.ts';
import type { ProxyTrust } from './http/client-address.ts';
import type { LargeBodies } from './http/large-body.ts';

/** What the gateway needs of the configuration; the rest is none of its business. */
export interface GatewayConfig {
  /** How clients reach the service; undefined: as the browser asked. */
  readonly publicUrl: string | undefined;
  /** The console's credential; undefined: the one minted on the first start. */
  readonly operatorToken: string | undefined;
  /** Shown by `/readyz`; the guard that it opens is not the gateway's. */
  readonly allowPrivateAddresses: boolean;
  /** Whose word about a client's address counts; absent: nobody's. */
  readonly trustProxy?: ProxyTrust | undefined;
}

export interface Services {
  readonly config: GatewayConfig;
  readonly storage: Storage;
  readonly actors: ActorSystem;
  readonly cluster: ClusterView;
  /** Of rate limits and failed logins, with the other nodes. */
  readonly counts: SharedCounts;
  /** Null: this installation has one cell, which has no name. */
  readonly cells?: Cells | null;
  /** Null likewise: there is nowhere to move to. */
  readonly moves?: { readonly leaving: OrganisationMoves; readonly arriving: MoveReceiver } | null;
  readonly billing: Billing;
  readonly confirmations: Confirmations;
  readonly writes: WriteServices;
  readonly setup: Setup;
  readonly smoke: SmokeRuns;
  readonly pairings: Pairings;
  readonly uploads: UploadIntake;
  /** Absent: large bodies are read on the event loop as small ones are. */
  readonly largeBodies?: LargeBodies;
  readonly log: Logger;
  /** Measures the event loop; absent where nobody asks. */
  /** Whether something new is to be refused; absent: never. */
  readonly load?: LoadWatch;
  /** The line in front of new turns; absent: each is begun at once. */
  readonly starts?: Starts;
  readonly stalls?: Pick<StallWatch, 'stats'>;
  nowMs(): number;
  /** Where this process is in its life: while it drains `/readyz` says so, and connections end with their answer. */
  readonly node: NodeStore;
}
