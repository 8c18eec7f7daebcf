/** What an agent does on each error code of the setup interface (SETUP-34). */
import { ERROR_TABLE, type ErrorCode } from '../../../protocol/errors.ts';

interface ErrorRow {
  readonly codes: readonly ErrorCode[];
  readonly meaning: string;
  readonly action: string;
}

const NEW_FILE = 'stop, ask for a new file';

const ROWS: readonly ErrorRow[] = [
  { codes: ['invalid_json'], meaning: 'not JSON, or Content-Type does not say so', action: 'fix, send again' },
  { codes: ['invalid_body'], meaning: 'a field is unknown, missing or of another type', action: 'fix the field it names' },
  { codes: ['empty_file'], meaning: 'a logo of zero bytes', action: 'send the image' },
  { codes: ['missing_token'], meaning: 'no bearer header', action: 'send the token' },
  { codes: ['invalid_token'], meaning: 'never issued, or replaced by a newer file', action: NEW_FILE },
  { codes: ['app_not_found'], meaning: 'the app was deleted', action: 'stop' },
  { codes: ['unknown_code'], meaning: 'GET /file: never issued', action: 'have the command copied again' },
  { codes: ['code_used', 'code_expired'], meaning: 'GET /file: used, or too old', action: 'ask for a new command' },
  { codes: ['not_started'], meaning: 'before POST /start', action: 'POST /start' },
  { codes: ['already_claimed'], meaning: 'another agent started the session', action: NEW_FILE },
  { codes: ['app_live'], meaning: 'a setup session on a live app', action: 'stop, ask for a sync session' },
  { codes: ['draft_invalid'], meaning: 'a logo before a valid appearance', action: 'PUT /appearance, then the logo' },
  { codes: ['conflict'], meaning: 'the app holds as many as it may', action: 'archive some, send again' },
  {
    codes: ['session_closed'],
    meaning: 'completed, failed, stopped or expired; after a lost answer of /complete or /fail: it arrived',
    action: `${NEW_FILE} if work is left`,
  },
  { codes: ['too_large'], meaning: 'the body or the logo is too big', action: 'send less per request' },
  { codes: ['unsupported_type'], meaning: 'no PNG, JPEG, WebP or SVG', action: 'convert it or leave it' },
  { codes: ['invalid_appearance', 'invalid_experience'], meaning: 'a value that is not accepted', action: 'fix what `message` names' },
  { codes: ['rate_limited'], meaning: 'too many requests', action: 'wait `Retry-After` seconds; send batches' },
  { codes: ['not_found', 'method_not_allowed'], meaning: 'no such path, method or proposal', action: 'fix it' },
  {
    codes: ['organisation_unavailable', 'storage_unavailable'],
    meaning: 'cannot read or store now, nothing was changed',
    action: 'wait `Retry-After` seconds, send again, some times',
  },
  { codes: ['internal'], meaning: 'our fault, nothing was changed', action: 'send once more, then do another step' },
];

const WITHOUT_CODE = '| 422 | none | no item of the batch was saved | fix each `results[i].error`, send those again |';

function rowOf({ codes, meaning, action }: ErrorRow): string {
  const statuses = [...new Set(codes.map((code) => ERROR_TABLE[code].status))];
  return `| ${statuses.join(', ')} | ${codes.join(', ')} | ${meaning} | ${action} |`;
}

/** A Markdown table, one row a code. */
export function renderErrors(): string {
  return ['| status | code | meaning | do |', '|---|---|---|---|', ...ROWS.map(rowOf), WITHOUT_CODE].join('\n');
}
