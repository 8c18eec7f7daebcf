/** The body of POST /v1/chat (CHAT-1 to CHAT-4): the same schema validates and documents it. */
import * as v from 'valibot';
import { CATALOG } from '../catalog/catalog.ts';
import { LOCALE_MAX_CHARS, languageTag } from '../language-tag.ts';
import {
  ACTION_NAME_MAX_CHARS,
  ACTION_RESULT_MAX_BYTES,
  ATTACHMENTS_PER_TURN_MAX,
  HANDSHAKE_COMPONENTS_MAX,
  HANDSHAKE_NAMES_MAX,
  ID_MAX_CHARS,
  MESSAGE_TEXT_MAX_CHARS,
  PROTOCOL_VERSION,
  SELECTION_IDS_MAX,
  SELECTION_OTHER_TEXT_MAX_CHARS,
  TOOL_ERROR_MAX_CHARS,
  TOOL_RESULTS_MAX,
} from '../limits.ts';
import { boundedList, flag } from '../schema/bounded.ts';
import { stated, when } from '../schema/stated.ts';
import { SAYS_SOMETHING, saysSomething, text } from '../schema/text.ts';
import { dropping, knowing } from '../schema/unknown-fields.ts';
import { rule } from '../setup/shapes.ts';
import { openObject, present } from './shapes.ts';
import { signedUser } from './signed-user.ts';
import { fittingContext, formValues, jsonOf, type TurnContext, turnContext } from './turn-context.ts';

const id = text(ID_MAX_CHARS, 1);

/** The revision of a block that a person saw. */
export const revision = v.pipe(v.number('must be a number'), v.safeInteger('must be a whole number'), v.minValue(1, 'must be at least 1'));

export const toolResult = v.pipe(
  openObject({
    invocation_id: id,
    status: v.picklist(['ok', 'error', 'declined', 'timeout', 'unavailable']),
    result: v.optional(jsonOf(ACTION_RESULT_MAX_BYTES)),
    error: v.optional(text(TOOL_ERROR_MAX_CHARS)),
    confirmed: v.optional(flag),
    /** Revision of the card that the person agreed to. */
    revision: v.optional(revision),
  }),
);
export type ToolResult = v.InferOutput<typeof toolResult>;

/** `name` or `name@n`; a name the server does not know is no error, it is simply never offered. */
const componentEntry = knowing(
  v.pipe(text(ID_MAX_CHARS, 1), v.regex(/^[a-z][a-z0-9_]*(?:@[1-9][0-9]{0,3})?$/, 'must be a component name, or name@version')),
  [...CATALOG.keys()],
);

const handshakeNames = boundedList(text(ACTION_NAME_MAX_CHARS, 1), HANDSHAKE_NAMES_MAX, `must list at most ${HANDSHAKE_NAMES_MAX} names`);

/** A hint, and so never a reason to refuse a turn: what is no language tag counts as none (CHAT-5). */
const locale = v.pipe(
  text(LOCALE_MAX_CHARS),
  stated(
    v.transform((given: string) => languageTag(given)),
    { description: 'A language tag (BCP 47), as de-AT. Anything else is ignored.' },
  ),
);

/** A hint as well: a zone that does not exist counts as none, which whoever formats a time finds out. */
const timeZone = v.pipe(
  text(ID_MAX_CHARS),
  stated(
    v.transform((given: string) => (/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(given) ? given : null)),
    { description: 'An IANA time zone, as Europe/Madrid. Anything else is ignored.' },
  ),
);

/** The client handshake (CHAT-4). */
export const handshake = openObject({
  protocol: v.literal(PROTOCOL_VERSION, `must be ${PROTOCOL_VERSION}`),
  sdk: v.pipe(text(ID_MAX_CHARS), v.regex(/^[a-z][a-z0-9_-]*\/\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]*)?$/, 'must look like web/1.2.3')),
  catalog_version: text(32, 1),
  components: boundedList(componentEntry, HANDSHAKE_COMPONENTS_MAX, `must list at most ${HANDSHAKE_COMPONENTS_MAX} components`),
  /** What is no hash is one that nobody registered: `manifest_unknown`, in the stream. */
  manifest_hash: v.optional(v.nullable(v.string('must be a string'))),
  locale: v.optional(v.nullable(locale)),
  time_zone: v.optional(v.nullable(timeZone)),
  capabilities: v.optional(handshakeNames, []),
  action_kinds: v.optional(handshakeNames, []),
});

export type { TurnContext };

/** Without what does not fit; a test key is warned of that (CHAT-23). */
const context = dropping(
  v.union([
    turnContext,
    v.pipe(
      v.unknown(),
      stated(
        v.transform((told: unknown) => v.parse(turnContext, fittingContext(told).fitting)),
        { description: 'What does not fit is left out.' },
      ),
    ),
  ]),
  turnContext,
) as v.GenericSchema<v.InferInput<typeof turnContext>, TurnContext>;

const PAYLOADS = ['message', 'form_submission', 'tool_results'] as const;

const chatFields = openObject({
  conversation_id: v.optional(v.nullable(id)),
  turn_id: v.optional(v.nullable(v.pipe(v.string('must be a string'), v.uuid('must be a UUID')))),
  message: v.optional(openObject({ text: text(MESSAGE_TEXT_MAX_CHARS) })),
  form_submission: v.optional(openObject({ form_id: id, values: formValues })),
  tool_results: v.optional(
    v.pipe(
      boundedList(toolResult, TOOL_RESULTS_MAX, `must hold at most ${TOOL_RESULTS_MAX} results`),
      v.minLength(1, 'must hold at least one result'),
    ),
  ),
  selection: v.optional(
    openObject({
      block_id: id,
      ids: boundedList(id, SELECTION_IDS_MAX, `must list at most ${SELECTION_IDS_MAX} ids`),
      other_text: v.optional(text(SELECTION_OTHER_TEXT_MAX_CHARS)),
    }),
  ),
  attachments: v.optional(
    boundedList(openObject({ upload_id: id }), ATTACHMENTS_PER_TURN_MAX, `must list at most ${ATTACHMENTS_PER_TURN_MAX} uploads`),
  ),
  user: v.optional(v.nullable(signedUser)),
  client: handshake,
  context: v.optional(context),
});
type ChatFields = v.InferOutput<typeof chatFields>;

/** Rule: what a person chose or attached comes with a message. */
function withMessage(field: 'selection' | 'attachments') {
  return rule<ChatFields>(
    field,
    (body) => body[field] === undefined || body.message !== undefined,
    'goes with message only',
    when({ not: present('message') }, { properties: { [field]: { type: 'null' } } }),
  );
}

export const chatRequest = v.pipe(
  chatFields,
  rule<ChatFields>(
    '',
    (body) => PAYLOADS.filter((name) => body[name] !== undefined).length === 1,
    'must carry exactly one of message, form_submission and tool_results',
    { oneOf: PAYLOADS.map(present) },
  ),
  rule<ChatFields>(
    'conversation_id',
    (body) =>
      (body.form_submission === undefined && body.tool_results === undefined) || body.message !== undefined || body.conversation_id != null,
    'is required with form_submission and tool_results',
    when({ not: present('message') }, { required: ['conversation_id'], properties: { conversation_id: { type: 'string' } } }),
  ),
  withMessage('selection'),
  withMessage('attachments'),
  rule<ChatFields>(
    'message.text',
    ({ message, attachments = [] }) => message === undefined || attachments.length > 0 || saysSomething(message.text),
    'must not be blank where nothing is attached',
    when(
      { not: { required: ['attachments'], properties: { attachments: { type: 'array', minItems: 1 } } } },
      { properties: { message: { properties: { text: { pattern: SAYS_SOMETHING.source } } } } },
    ),
  ),
);
export type ChatRequest = v.InferOutput<typeof chatRequest>;
/** As a client writes it: defaults may be left out. */
export type ChatBody = v.InferInput<typeof chatRequest>;
