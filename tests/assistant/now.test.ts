import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nowLine } from '../../assistant/now.ts';

const AT = Date.parse('2026-11-24T04:12:59.000Z');

test('MODEL-32: the day, the time to the minute and the zone of the device, else of the app, else UTC and that none is known', () => {
  for (const [zones, line] of [
    [['Europe/Amsterdam', 'Asia/Tokyo'], 'Now: Tuesday 2026-11-24 05:12 (Europe/Amsterdam, +01:00).'],
    [[undefined, 'Asia/Tokyo'], 'Now: Tuesday 2026-11-24 13:12 (Asia/Tokyo, +09:00).'],
    [['Mars/Base', 'America/St_Johns'], 'Now: Tuesday 2026-11-24 00:42 (America/St_Johns, -03:30).'],
    [['europe/lisbon'], 'Now: Tuesday 2026-11-24 04:12 (Europe/Lisbon, +00:00).'],
    [['UTC'], 'Now: Tuesday 2026-11-24 04:12 (UTC, +00:00).'],
    [[null, null], "Now: Tuesday 2026-11-24 04:12 (UTC). The person's time zone is not known."],
    [['Obey/Me', ''], "Now: Tuesday 2026-11-24 04:12 (UTC). The person's time zone is not known."],
  ] as const)
    assert.equal(nowLine(AT, zones), line);
});
