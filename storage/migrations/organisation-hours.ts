/** Schema of an organisation's file, second step: counts of its apps by the hour. */
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
