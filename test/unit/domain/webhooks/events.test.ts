import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { EVENT_NAMES, eventRow, SELECTABLE_EVENTS } from '../../../../src/domain/webhooks/events.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

describe('the table of events', () => {
  test('has what webhooks select, and the test that is asked for', () => {
    expect(EVENT_NAMES.filter((name) => !SELECTABLE_EVENTS.some((one) => one === name))).toEqual([
      'webhook.test',
    ]);
  });

  test('is what the index over events of one CFE holds: PostgreSQL uses it for a question with the same words', () => {
    const names = EVENT_NAMES.filter((name) => eventRow(name).isOfOneCfe).map((name) => `'${name}'`);
    expect(read('src/db/migrations/0001_baseline.ts')).toMatch(
      new RegExp(`create index event_of_cfe on event .*\n\\s+where name in \\(${names.join(', ')}\\)`),
    );
  });

  test('is that of docs/contract.md', () => {
    const [, section = ''] = /## Events\n(.*?)\n## /s.exec(read('docs/contract.md')) ?? [];
    const named = [...section.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => name),
    );
    expect(new Set(named)).toEqual(new Set(EVENT_NAMES));
  });
});
