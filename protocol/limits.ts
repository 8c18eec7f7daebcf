/**
 * Every number of the specification's Limits section and of its field tables, once.
 * Characters are Unicode code points; bytes are UTF-8; durations say their unit.
 */

// Runtime: payload caps
export const MESSAGE_TEXT_MAX_CHARS = 4_000;
export const APP_STATE_MAX_BYTES = 8 * 1024;
export const ACTION_RESULT_MAX_BYTES = 16 * 1024;
export const TOOL_ERROR_MAX_CHARS = 500;
export const TOOL_RESULTS_MAX = 10;
export const HANDSHAKE_COMPONENTS_MAX = 96;
export const HANDSHAKE_NAMES_MAX = 32;
export const ATTACHMENTS_PER_TURN_MAX = 4;
export const SELECTION_IDS_MAX = 24;
export const SELECTION_OTHER_TEXT_MAX_CHARS = 300;
export const FORM_LIST_VALUE_MAX = 100;
export const FORM_VALUE_MAX_CHARS = 500;
/** A form has at most 12 fields; a submission naming more is malformed. */
export const FORM_VALUES_MAX = 12;
export const OPEN_FORMS_MAX = 3;
export const FEEDBACK_REASON_MAX_CHARS = 500;
export const RATING_COMMENT_MAX_CHARS = 500;
/** Ids of messages, of blocks and inside bodies. The service mints none that is longer. */
export const ID_MAX_CHARS = 64;
export const EXTERNAL_USER_ID_MAX_CHARS = 128;
/** A signature has 64 characters. A longer one up to here is told as wrong and not as malformed. */
export const USER_HMAC_MAX_CHARS = 128;
/** A person's traits, serialized: as large as app_state, which reaches the model beside them. */
export const TRAITS_MAX_BYTES = 8 * 1024;
export const UPLOAD_MAX_BYTES = 20 * 1024 * 1024;
/** An upload that no message uses is deleted after this. */
export const UPLOAD_UNUSED_HOURS = 24;
export const RATING_VALUE_MAX = 5;
export const PAIRING_CODE_CHARS = 8;
export const PAIRING_CODE_MINUTES = 15;
export const PAIRING_WATCH_HOURS = 2;
export const MESSAGES_PAGE_DEFAULT = 50;
export const MESSAGES_PAGE_MAX = 200;

// Runtime: manifest
export const MANIFEST_ACTIONS_MAX = 100;
export const MANIFEST_ROUTES_MAX = 50;
export const MANIFEST_ROUTE_PARAMS_MAX = 8;
export const MANIFEST_VERSION_MAX_CHARS = 64;
export const ACTION_NAME_MAX_CHARS = 64;
export const ACTION_DESCRIPTION_MAX_CHARS = 500;
export const ACTION_PARAMS_MAX = 20;
export const ACTION_ENUM_MAX = 50;
export const ACTION_TIMEOUT_MIN_MS = 1_000;
export const ACTION_TIMEOUT_MAX_MS = 120_000;
export const ACTION_TIMEOUT_DEFAULT_MS = 30_000;
export const CONFIRM_TEMPLATE_MAX_CHARS = 300;
export const CONFIRM_TEMPLATE_LOCALES_MAX = 16;
export const CONFIRM_LABEL_MAX_CHARS = 24;
export const TYPE_TO_CONFIRM_MAX_CHARS = 60;
export const ERROR_DETAILS_MAX = 12;

// Runtime: request rates and caps
export const MESSAGES_PER_MINUTE_DEFAULT = 20;
export const MESSAGES_PER_DAY_DEFAULT = 400;
/** For all requests from one address without a signature (LIMIT-6). */
export const MESSAGES_PER_MINUTE_PER_ADDRESS_DEFAULT = 120;
/** One address may use the app's daily messages divided by this, unless the app says how many. */
export const MESSAGES_PER_DAY_ADDRESS_SHARE = 4;
/** Lower bound of that share, for apps with few messages a day, which usually only their maker uses. */
export const MESSAGES_PER_DAY_ADDRESS_MIN = 10;
export const SANDBOX_CONVERSATIONS_PER_MONTH = 200;
export const CONFIG_PER_MINUTE_PER_DEVICE = 12;
export const CONFIG_PER_MINUTE_PER_APP = 600;
/** Answered for each address also when others have used up what the app may answer: a household starts the app less often. */
export const CONFIG_KEPT_PER_ADDRESS = 20;
export const CONFIRMATION_TTL_DEFAULT_S = 900;
/** A recorded confirmation that no continuation has come for by then is not acted upon any more. */
export const CONFIRMED_VALID_HOURS = 24;
export const CREDIT_PURCHASE_MIN_USD = 10;
/** Credit below this is topped up where that is switched on. */
export const TOP_UP_BELOW_USD = 10;
/** Percent of the month's credit at which members are written to. */
export const USAGE_MAIL_THRESHOLDS = [80, 100] as const;
export const UPLOADS_PER_MINUTE_PER_DEVICE = 20;
export const UPLOADS_RETRY_AFTER_S = 5;
export const PAIRING_CLAIMS_PER_MINUTE_PER_DEVICE = 5;
export const PAIRING_CLAIMS_PER_MINUTE_PER_APP = 30;

// HTTP actions at run time
/** Decompressed body of an answer. */
export const HTTP_ACTION_ANSWER_MAX_BYTES = 1024 * 1024;

// Turn
export const TURN_ROUNDS_MAX = 6;
export const TURN_CALLS_PER_ROUND_MAX = 8;
/** Turns of one conversation that may wait behind the running one. */
export const WAITING_TURNS_MAX = 3;
export const PING_INTERVAL_MS = 15_000;
/** Text of one turn in UTF-16 units: a book's worth. A model that writes more is broken, or was told to fill the disk. */
export const ANSWER_TEXT_MAX_CHARS = 1_000_000;
/** Blocks of one turn: a million characters make 143 text blocks, six rounds of eight calls make 48, and as many texts lie between. */
export const ANSWER_BLOCKS_MAX = 256;
/** An upstream that says nothing for this long has broken off. */
export const MODEL_SILENCE_MS = 30_000;

/** Longest address accepted anywhere: the longest that browsers and servers agree on. */
export const ADDRESS_MAX_CHARS = 2_048;

// Setup interface fields that the console shares
export const JSON_BODY_MAX_BYTES = 2 * 1024 * 1024;
export const KNOWLEDGE_KEY_MAX_CHARS = 200;
export const KNOWLEDGE_TITLE_MAX_CHARS = 160;
export const KNOWLEDGE_TEXT_MAX_CHARS = 200_000;
export const KNOWLEDGE_ITEMS_MAX = 25;
export const REASON_MAX_CHARS = 1_000;
export const PERSONA_NAME_MAX_CHARS = 40;
export const PERSONA_TEXT_MAX_CHARS = 4_000;
export const PERSONA_TOPICS_MAX = 20;
export const PERSONA_TOPIC_MAX_CHARS = 120;
export const PERSONA_LANGUAGES_MAX = 12;
export const WELCOME_TITLE_MAX_CHARS = 80;
export const WELCOME_BODY_MAX_CHARS = 160;
export const SUGGESTIONS_MAX = 4;
export const SUGGESTION_MAX_CHARS = 60;
export const LAUNCHER_LABEL_MAX_CHARS = 24;
export const COMPOSER_HINT_MAX_CHARS = 60;

// Setup interface: sessions and what an agent reports
export const SETUP_REQUESTS_PER_MINUTE = 120;
export const SETUP_SESSION_HOURS = 24;
export const SETUP_CODE_MINUTES = 15;
export const TOOL_NAME_MAX_CHARS = 40;
export const AGENT_MODEL_MAX_CHARS = 80;
export const AGENT_OS_MAX_CHARS = 40;
export const EVENTS_PER_REQUEST_MAX = 50;
export const EVENT_TITLE_MAX_CHARS = 120;
export const EVENT_DETAIL_MAX_CHARS = 2_000;
export const EVENT_DATA_MAX_CHARS = 8_000;
export const DETECTED_LOCALES_MAX = 40;
export const DETECTED_FONTS_MAX = 10;
export const SUMMARY_MAX_CHARS = 20_000;
export const FILES_CHANGED_MAX = 500;
/** A path, or one thing left for a person to do. */
export const COMPLETION_LINE_MAX_CHARS = 500;
export const HUMAN_TODOS_MAX = 50;
export const FAIL_REASON_MAX_CHARS = 2_000;

// Setup interface: HTTP actions and screens
export const HTTP_ACTIONS_PER_REQUEST_MAX = 50;
export const HTTP_ACTION_TIMEOUT_MIN_MS = 1_000;
export const HTTP_ACTION_TIMEOUT_MAX_MS = 30_000;
export const HTTP_ACTION_TIMEOUT_DEFAULT_MS = 10_000;
export const RESULT_LIMIT_MAX = 50;
export const RESULT_LIMIT_DEFAULT = 5;
export const SCREENS_PER_REQUEST_MAX = 50;
export const SCREEN_TITLE_MAX_CHARS = 60;
export const SCREEN_DESCRIPTION_MAX_CHARS = 300;

// Setup interface: logo, links, smoke test
export const LOGO_MAX_BYTES = 2 * 1024 * 1024;
export const LINK_MAX_BYTES = 10 * 1024 * 1024;
export const LINK_TIMEOUT_MS = 20_000;
export const LINK_REDIRECTS_MAX = 5;
export const SMOKE_QUESTIONS_MIN = 3;
export const SMOKE_QUESTIONS_MAX = 5;
export const SMOKE_TIMEOUT_MS = 150_000;
/** Share of a smoke run's answers that must be grounded or backed by an action. */
export const SMOKE_PASS_SHARE = 0.8;

// Appearance tokens
export const RADIUS_MAX_PX = 32;
export const FONT_FAMILY_MAX_CHARS = 120;
export const FONT_SCALE_MIN = 0.8;
export const FONT_SCALE_MAX = 1.4;

// Console
export const CREDIT_VALID_MONTHS = 12;
/** Users are devices seen within this many days, once per person when identified. */
export const USERS_WINDOW_DAYS = 90;

// Guards against hostile input that the specification leaves to us
/** A chat body holds 4,000 characters, 8 KB of state and up to ten 16 KB results: 256 KB is ample. */
export const RUNTIME_BODY_MAX_BYTES = 256 * 1024;
/** A hundred actions with twenty described parameters each, their texts in sixteen locales, and fifty screens: 1.9 MB. */
export const MANIFEST_BODY_MAX_BYTES = 2 * 1024 * 1024;
/** Such a manifest has 24,300 keys, and with fifty values to choose from for each parameter 146,000 members. It is read beside the event loop. */
export const MANIFEST_KEYS_MAX = 30_000;
export const MANIFEST_MEMBERS_MAX = 160_000;
/** No shape of ours nests deeper than 12; app_state and results may go on for some levels more. */
export const JSON_DEPTH_MAX = 64;
/** Keys of one body, all objects together; each costs a microsecond to parse. */
export const JSON_KEYS_MAX = 20_000;
/** Members of all lists and objects of one body; four cost a microsecond. */
export const JSON_MEMBERS_MAX = 60_000;

// Service protocol
export const PROTOCOL_VERSION = 1;
export const CATALOG_VERSION = '2026-11.a';

/** A question in the languages that knowledge may be written in, or in other words: each query is a search. */
export const KNOWLEDGE_QUERIES_MAX = 4;
/** The searches of a round in all: they are made in one stretch of work, and each asks the embeddings server. */
export const KNOWLEDGE_QUERIES_PER_ROUND_MAX = 8;
