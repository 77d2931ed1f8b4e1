import { isExactNumber } from '../domain/exactNumber.ts';
import type { Row } from './verb.ts';

/** An answer as one JSON document. */
export const asJson = (answer: Row | readonly Row[]): string => `${JSON.stringify(answer, null, 2)}\n`;

/** An answer for people: several rows as a table with a heading, one row as one line for each field. */
export function asTable(answer: Row | readonly Row[], columns?: readonly string[]): string {
  if (isList(answer)) return listTable(answer, columns);
  const names = columns ?? Object.keys(answer);
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${cell(answer[name])}\n`).join('');
}

/** One field of an answer as it is, for people and pipes. */
export function asText(answer: Row | readonly Row[], field: string): string {
  return isList(answer) ? asTable(answer) : wordsOf(answer[field]);
}

const isList = (answer: Row | readonly Row[]): answer is readonly Row[] => Array.isArray(answer);

function listTable(rows: readonly Row[], columns: readonly string[] | undefined): string {
  const [first] = rows;
  if (!first) return '(none)\n';
  const names = columns ?? Object.keys(first);
  const cells = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, i) => Math.max(...cells.map((line) => line[i]?.length ?? 0)));
  return cells
    .map(
      (line) =>
        `${line
          .map((text, i) => text.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  // Stored text must not control the terminal.
  return wordsOf(value).replace(/\p{Cc}/gu, ' ');
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isExactNumber(value) ? value.rawJSON : JSON.stringify(value);
}
