/** Schema of an organisation's file, second and third step: counts of its apps by the hour. */
export const APP_HOURS = `
  CREATE TABLE app_hours (
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    channel TEXT NOT NULL,
    -- Hours since 1970, UTC.
    hour INTEGER NOT NULL,
    -- Attempts at turns that ended, and those of them that failed.
    ended INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    -- Devices that were first seen that day.
    people INTEGER NOT NULL,
    -- How many took how long to the first word: JSON, see app-hours.ts.
    first_words TEXT NOT NULL,
    PRIMARY KEY (app_id, channel, hour)
  ) STRICT, WITHOUT ROWID;
`;

export const TRIED_HOURS = `
  CREATE TABLE tried_hours (
    app_id TEXT NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('model', 'backend', 'knowledge')),
    -- Hours since 1970, UTC.
    hour INTEGER NOT NULL,
    -- How often it was tried, and how often that failed (RUN-35).
    tried INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (app_id, kind, hour)
  ) STRICT, WITHOUT ROWID;
`;
