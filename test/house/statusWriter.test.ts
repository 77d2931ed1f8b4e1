import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** One file writes the status of a CFE, so that nothing which must follow a move is forgotten (docs/architecture.md). */
const WRITER = 'src/db/receipts/moves.ts';

const ROOT = join(import.meta.dirname, '../..');

/** From `start`, which follows an open bracket, up to `end` or the bracket that closes. */
function upTo(text: string, start: number, end: RegExp): string {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    if (depth < 0 || sign === '`') return text.slice(start, at);
    if (depth === 0 && end.test(text.slice(at, at + 12))) return text.slice(start, at);
  }
  return text.slice(start);
}

const after = (text: string, pattern: RegExp): number[] =>
  [...text.matchAll(pattern)].map((match) => match.index + match[0].length);

/** The columns that each `update cfe set` sets. */
const setBySql = (text: string): string[] =>
  after(text, /\bupdate\s+(?:only\s+)?(?:\w+\.)?"?cfe"?\s+(?:(?:as\s+)?(?!set\b)\w+\s+)?set\s/gi)
    .map((start) => upTo(text, start, /^\s(?:where|from|returning)\s/i))
    // A column whose name is not written out may be any.
    .map((columns) => (/(?:^|,)\s*\$\{/.test(columns) ? 'status = ?' : columns));

/** The columns that each `insert into cfe … on conflict` sets. */
const setByUpsert = (text: string): string[] =>
  after(
    text,
    /\binsert\s+into\s+(?:\w+\.)?"?cfe"?[\s(](?:(?!insert\s+into|`)[^])*?\bdo\s+update\s+set\s/gi,
  ).map((start) => upTo(text, start, /^\s(?:where|returning)\s/i));

/** What the entity manager is to write: the last argument. Values that stand elsewhere may hold anything. */
const setByOrm = (text: string): string[] =>
  after(text, /\b(?:nativeUpdate|upsert|upsertMany)\(\s*Cfe,/g)
    .map((start) => upTo(text, start, /^;/))
    .map((given) => /(?<=,\s*)\{[^{}]*\}(?=,?\s*$)/.exec(withoutInner(given))?.[0] ?? '...')
    .map((values) => (values.includes('...') ? 'status = ?' : values));

/** Without the values of fields that are objects themselves. */
const withoutInner = (text: string): string => text.replaceAll(/(:\s*)\{[^{}]*\}/g, '$10');

/** What is assigned to an entity at once; a single field is `readonly`, which TypeScript holds. */
const setByAssign = (text: string): string[] =>
  after(text, /\bassign\(\s*\w*cfe\b,/gi).map((start) => upTo(text, start, /^;/));

const writesStatus = (text: string): boolean =>
  [
    ...setBySql(text.replaceAll(/distinct\s+from/gi, '=')),
    ...setByUpsert(text),
    ...setByOrm(text),
    ...setByAssign(text),
  ].some((values) => /(?:^|[,({])\s*"?status"?\s*(?:[=:,)}]|$)/.test(values));

test('only src/db/receipts/moves.ts writes the status of a CFE', () => {
  const writers = globSync('src/**/*.ts', { cwd: ROOT }).filter((name) =>
    writesStatus(readFileSync(join(ROOT, name), 'utf8')),
  );
  expect(writers).toEqual([WRITER]);
});

test.each([
  ["`update cfe set status = 'REJECTED' where id = ?`", true],
  ["`update cfe as one set digest = ?, status = 'REJECTED' from sobre where one.id = ?`", true],
  ["`with moved as (update cfe set (digest, status) = (select 1, 'ACCEPTED') returning id) select 1`", true],
  ["`update public.cfe set status = 'REJECTED'`", true],
  ["`update cfe set held = digest is distinct from ?, status = 'REJECTED' where id = ?`", true],
  ['`update cfe set ${columns} where id = ?`', true],
  ["`insert into cfe (id) values (?) on conflict (id) do update set status = 'REJECTED'`", true],
  ["`insert into cfe (id, status) values (?, 'PENDING') on conflict do nothing`", false],
  ["`update cfe set held = false where status = 'PENDING'`", false],
  ["`update sobre set status = 'SENT'`; `update cfe_sequence set status = 1`", false],
  ["await em.nativeUpdate(Cfe, { id }, { stuckReason: null, status: 'REJECTED' });", true],
  ['await em.nativeUpdate(Cfe, { id }, { status });', true],
  ['await em.nativeUpdate(Cfe, { id }, values);', true],
  ['await em.nativeUpdate(Cfe, { id }, { ...values });', true],
  ["await em.nativeUpdate(Cfe, { id, status: 'PENDING' }, { stuckReason: null });", false],
  ['await em.nativeUpdate(Cfe, { id }, { firstAnswer: { status, digest } });', false],
  ["await em.nativeUpdate(Mail, { id }, { status: 'SENT' });", false],
  ["Object.assign(cfe, { digest, status: 'ACCEPTED' });", true],
  ['Object.assign(cfe, { digest });', false],
])('that rule, of: %s', (line, isWrite) => {
  expect(writesStatus(line)).toBe(isWrite);
});
