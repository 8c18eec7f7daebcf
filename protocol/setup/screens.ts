/** Body of POST /screens (SCREEN-1): screens that are registered in code, and ones that are gone. */
import * as v from 'valibot';
import { PARAM_TYPES, paramName } from '../action-params.ts';
import {
  ACTION_NAME_MAX_CHARS,
  MANIFEST_ROUTE_PARAMS_MAX,
  SCREEN_DESCRIPTION_MAX_CHARS,
  SCREEN_TITLE_MAX_CHARS,
  SCREENS_PER_REQUEST_MAX,
} from '../limits.ts';
import { flag } from '../schema/bounded.ts';
import { filledText, snakeCase, text } from '../schema/text.ts';
import { distinct } from './accept.ts';
import { fields, listOf, mapOf, reason } from './shapes.ts';

/** A path inside a repository. */
const FILE_MAX_CHARS = 300;
const DEEP_LINK_MAX_CHARS = 500;
/** One parameter is the answer of one or two actions, never of the whole list. */
const FROM_ACTIONS_MAX = 10;

const screenParam = fields({
  type: v.picklist(PARAM_TYPES),
  required: v.optional(flag),
  fromActions: v.optional(
    v.pipe(
      listOf(snakeCase(ACTION_NAME_MAX_CHARS), 0, FROM_ACTIONS_MAX),
      distinct(),
      v.description('Names of the actions whose results hold values for this parameter.'),
    ),
  ),
});

const screen = fields({
  name: snakeCase(ACTION_NAME_MAX_CHARS),
  title: filledText(SCREEN_TITLE_MAX_CHARS),
  description: filledText(SCREEN_DESCRIPTION_MAX_CHARS),
  params: v.optional(mapOf(paramName, screenParam, MANIFEST_ROUTE_PARAMS_MAX)),
  file: v.optional(text(FILE_MAX_CHARS)),
  deep_link: v.optional(text(DEEP_LINK_MAX_CHARS)),
});
export type ScreenDeclaration = Readonly<v.InferOutput<typeof screen>>;

const archiveEntry = fields({ name: snakeCase(ACTION_NAME_MAX_CHARS), reason });
export type ScreenArchiveEntry = Readonly<v.InferOutput<typeof archiveEntry>>;

/** Either list may be empty or left out: a caller that found nothing to say need not tell that apart. */
export const screensBody = fields({
  screens: v.optional(listOf(screen, 0, SCREENS_PER_REQUEST_MAX)),
  archive: v.optional(listOf(archiveEntry, 0, SCREENS_PER_REQUEST_MAX)),
});
export type ScreensBody = v.InferOutput<typeof screensBody>;
