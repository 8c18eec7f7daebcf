/** What routes may use; put together once in main.ts. */
import type { Logger } from 'pino';
import type { Billing } from '../actors/billing/billing.ts';
import type { ActionTrials } from '../actors/calls/action-trial.ts';
import type { Confirmations } from '../actors/calls/confirmation.ts';
import type { Cells } from '../actors/cells/cells.ts';
import type { OrganisationMoves } from '../actors/cells/move.ts';
import type { MoveReceiver } from '../actors/cells/move-receiver.ts';
import type { SharedCounts } from '../actors/cluster/bus/shared-counts.ts';
import type { ClusterView } from '../actors/cluster/nodes/census.ts';
import type { WriteServices } from '../actors/configuration/writes.ts';
import type { QueryEmbeddings } from '../actors/knowledge/query-embeddings.ts';
import type { NodeStore } from '../actors/node.ts';
import type { Pairings } from '../actors/pairing/pairings.ts';
import type { Setup } from '../actors/setup/setup.ts';
import type { SmokeRuns } from '../actors/smoke/run.ts';
import type { Turns } from '../actors/turns/turns.ts';
import type { UploadReceiver } from '../actors/uploads/upload-receiver.ts';
import type { ReplicaWatch } from '../storage/replica/replica-watch.ts';
import type { Storage } from '../storage/storage.ts';
import type { LoadWatch } from '../watch/load-watch.ts';
import type { Measures } from '../watch/measures.ts';
import type { StallWatch } from '../watch/stall-watch.ts';
import type { Starts } from '../watch/starts.ts';
import type { ProxyTrust } from './http/client-address.ts';
import type { LargeBodies } from './http/large-body.ts';

/** Viewers of machines that speak the inspector's frames (INSPECT-1). */
export interface InspectorConfig {
  readonly token: string;
  /** Origins of pages that may look, beside the service's own: `https://viewer.example`. */
  readonly origins: readonly string[];
}

export interface GatewayConfig {
  /** The address at which clients reach the service; undefined: the one in the request. */
  readonly publicUrl: string | undefined;
  /** The console's credential; undefined: the one minted on the first start. */
  readonly operatorToken: string | undefined;
  /** Shown by `/readyz`. */
  readonly allowPrivateAddresses: boolean;
  /** Others than this machine's users may reach the service; absent: they may not. Shown by `/readyz` beside the demo. */
  readonly isExposed?: boolean;
  /** Which proxies are trusted to report a client's address; absent: none. */
  readonly trustProxy?: ProxyTrust | undefined;
  /** Absent: viewers of other makers cannot look. */
  readonly inspector?: InspectorConfig | undefined;
}

export interface DemoPages {
  /** Publishable key of the demo app; undefined once a person has deleted it. */
  readonly key: string | undefined;
}

export interface Services {
  readonly config: GatewayConfig;
  readonly storage: Storage;
  readonly actors: Turns;
  readonly cluster: ClusterView;
  /** Counts of rate limits and failed logins, shared with the other nodes. */
  readonly counts: SharedCounts;
  /** Null: this installation has one cell, which has no name. */
  readonly cells?: Cells | null;
  /** Null for the same reason. */
  readonly moves?: { readonly leaving: OrganisationMoves; readonly arriving: MoveReceiver } | null;
  readonly billing: Billing;
  readonly confirmations: Confirmations;
  /** Reads that a person tries in the console. */
  readonly trials: ActionTrials;
  readonly writes: WriteServices;
  readonly setup: Setup;
  readonly smoke: SmokeRuns;
  readonly pairings: Pairings;
  readonly meanings?: QueryEmbeddings | undefined;
  readonly uploads: UploadReceiver;
  /** Absent: large bodies are read on the event loop as small ones are. */
  readonly largeBodies?: LargeBodies;
  /** The demo's pages; absent: they are off. */
  readonly demo?: DemoPages | undefined;
  /** How far the replica is; absent: nothing is replicated. */
  readonly replica?: Pick<ReplicaWatch, 'status'> | undefined;
  /** False: a document that took over its parser is not alone; operators are told by `/readyz`. */
  readonly parsersIsolated?: boolean;
  readonly log: Logger;
  /** Says when new work is refused; absent: never. */
  readonly load?: LoadWatch;
  /** What turns, rounds of the model and actions came to; absent: nothing is measured. */
  readonly measures?: Pick<Measures, 'text' | 'values'>;
  /** Where several processes share the port: what each of them counts; absent: this one is alone. */
  readonly gathered?: { tells(own: () => Promise<readonly object[]>): void; all(): Promise<readonly (readonly object[])[]> };
  /** The queue of new turns; absent: each begins at once. */
  readonly starts?: Starts;
  /** Whether the warm-up is under way, while `/readyz` says that no load is to be sent here; absent: there is none. */
  readonly isWarming?: () => boolean;
  /** Measures the event loop; absent: not measured. */
  readonly stalls?: Pick<StallWatch, 'stats'>;
  nowMs(): number;
  /** The node's phase and counts: while it drains, `/readyz` says so and connections close with their answer. */
  readonly node: NodeStore;
}
