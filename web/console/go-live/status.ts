/** Where an app stands on its way to people, as the interface tells. */

export type CheckKey = 'app' | 'knowledge' | 'screens' | 'smoke';

export interface Check {
  readonly key: CheckKey;
  readonly label: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface AppStatus {
  readonly facts: {
    readonly manifest: { readonly sdkVersion: string; readonly actions: readonly string[]; readonly routes: readonly string[] } | null;
    readonly httpActions: { readonly enabled: number; readonly needsKey: number };
  };
  readonly go_live: readonly Check[];
  readonly release: {
    readonly auto_go_live: boolean;
    readonly publish_on_go_live: boolean;
    readonly published_version: number | null;
    readonly obstacles: readonly string[];
    readonly note: string;
  };
}

export interface SmokeAnswer {
  readonly question: string;
  readonly from: 'suggestion' | 'knowledge' | 'action' | 'general';
  readonly answer: string;
  readonly grounded: boolean;
  readonly actionBacked: boolean;
  readonly ok: boolean;
  readonly actions: readonly string[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface SmokeRun {
  readonly id: string;
  readonly passed: boolean;
  readonly createdAt: string;
  readonly platformFailure: boolean;
  readonly results: readonly SmokeAnswer[];
}
