/** The writes that configure an app (docs/specification/configuration.md): their kinds, bodies and steps. */
import type { HttpActionShape } from './actions.ts';
import type { AppearanceBody } from './appearance.ts';
import type { KnowledgeItemShape } from './knowledge.ts';
import type { ExperiencePatch } from './persona.ts';
import type { ScreensBody } from './screens.ts';
import type { AgentStepId } from './steps.ts';

/** One write; its body has passed its schema. Kept as JSON where it waits for a person. */
export type SetupWrite =
  /** `logo`: an image that goes with it, in base64; of proposals only, a request has one or the other. */
  | { readonly kind: 'appearance'; readonly body: AppearanceBody; readonly logo?: string }
  /** `content`: the image in base64. */
  | { readonly kind: 'logo'; readonly content: string }
  | { readonly kind: 'experience'; readonly patch: ExperiencePatch }
  | { readonly kind: 'knowledge'; readonly items: readonly KnowledgeItemShape[] }
  | { readonly kind: 'actions'; readonly items: readonly HttpActionShape[] }
  | { readonly kind: 'screens'; readonly body: ScreensBody };

export type WriteKind = SetupWrite['kind'];

/**
 * Who wrote a part of the configuration: a person in the console, an agent, an agent whose proposal a person approved,
 * the service itself from the links of the intake form, or a first start for its demo.
 */
export type Origin = 'console' | 'setup' | 'proposal' | 'intake' | 'demo';

/** Whether what a session writes is applied at once, or waits for a person (PROPOSAL-1). */
export type WriteMode = 'apply' | 'propose';

export const STEP_OF_WRITE: Readonly<Record<WriteKind, AgentStepId>> = {
  appearance: 'appearance',
  logo: 'appearance',
  experience: 'experience',
  knowledge: 'knowledge',
  actions: 'actions',
  screens: 'screens',
};
