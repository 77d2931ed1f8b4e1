/** Shows the lists of src/lists as tables and CSV files. */

import { Readable } from 'node:stream';
import type { ListPage } from '../db/page.ts';
import { listSavedFilters } from '../db/people/people.ts';
import { decodeCursor, encodeCursor } from '../domain/values/cursor.ts';
import { isExactNumber } from '../domain/values/exactNumber.ts';
import { Refusal } from '../errors.ts';
import { type Columns, type ColumnValue, type List, valueIn } from '../lists/list.ts';
import { type Html, html } from '../page/html.ts';
import type { Topic } from './changes.ts';
import { describeInvalid, type Filter, filterForm, isFiltered } from './filters.ts';
import { timestampText } from './format.ts';
import { link } from './links.ts';
import { type Answer, type ConsoleDeps, LocalizedRefusal, show, signedIn, type Visit } from './page.ts';
import { hidden, panel, renderEmpty } from './parts.ts';
import { renderSavedFilters } from './savedFilters.ts';

/** Rows of one page of a list, and of one query of a CSV. */
const PAGE_ROWS = 50;
const CSV_ROWS = 500;

type Part = Html | string | null | false;
type Query = Readonly<Record<string, string | number | undefined>>;

/** A heading of a table. Without `cell`, the cells show the column's value. */
export interface Heading<R> {
  readonly head: string;
  cell?(row: R): Part;
  /** Whether the cells are aligned right. */
  readonly isFigure?: boolean;
}

/** Headings of the columns that a page shows; the CSV has all columns. */
export type Headings<R, C> = {
  readonly [N in keyof C]?: string | readonly [head: string, cell: (row: R) => Part] | Heading<R> | false;
};

/** Returns a heading whose cells are aligned right. */
export const figures = <R>(head: string, cell?: (row: R) => Part): Heading<R> => ({
  head,
  ...(cell ? { cell } : {}),
  isFigure: true,
});

/** A column of a page. */
export interface PageColumn<R> extends Heading<R> {
  cell(row: R): Part;
}

/** Returns the columns that have a heading, in the list's order. */
export const columnsWithHeading = <R, C extends Columns<R>>(
  { columns }: { readonly columns: C },
  headings: Headings<R, C>,
): PageColumn<R>[] =>
  Object.entries(columns).flatMap(([name, source]) => {
    const heading = headings[name];
    if (heading === undefined || heading === false) return [];
    const cell = (row: R) => plainText(valueIn(source, row));
    if (typeof heading === 'string') return [{ head: heading, cell }];
    return 'head' in heading ? [{ cell, ...heading }] : [{ head: heading[0], cell: heading[1] }];
  });

/** How a page shows a list. */
export interface ListOptions<R, S, C> {
  readonly search: S;
  readonly headings: Headings<R, C>;
  readonly path: string;
  /** The page's query: the values of the filters and of LIST_QUERY. */
  readonly query: Query;
  readonly filters?: readonly Filter[];
  /** Label of the table for screen readers. */
  readonly label: string;
  /** Whether the page has other lists. */
  readonly isPart?: boolean;
  /** Returns the path of a row's page. The first column's cell is then a link and must not contain another. */
  href?(row: R): string | null;
  /** Boxes to tick rows: a form with `content` sends the values of ticked rows to `action` as `name`. */
  readonly ticks?: {
    readonly name: string;
    value(row: R): string | null;
    readonly action: string;
    readonly content: Html;
  };
  /** Text when no row matches. */
  readonly empty: string;
  /** Text when the list is empty even without filters, such as how to add the first row. */
  readonly emptyAtFirst?: string;
}

/** A list with how a page shows it. */
type PageList<R> = Pick<List<R, never>, 'name' | 'key' | 'columns'> &
  Omit<ListOptions<R, never, never>, 'search' | 'headings' | 'filters'> & {
    readonly filters: readonly Filter[];
    readonly shownColumns: readonly PageColumn<R>[];
    readRows(page: ListPage): Promise<readonly R[]>;
  };

const pageListOf = <R, S, C extends Columns<R>>(
  { orm }: Pick<ConsoleDeps, 'orm'>,
  list: List<R, S, C>,
  { search, headings, ...page }: ListOptions<R, S, C>,
): PageList<R> => ({
  ...page,
  ...list,
  filters: page.filters ?? [],
  shownColumns: columnsWithHeading(list, headings),
  readRows: (rows) => list.read(orm.em.fork(), search, rows),
});

/**
 * Returns the page of a list, or its CSV with `format=csv`. With an invalid filter the page has no rows: rows that match only
 * the other filters would mislead.
 */
export async function showList<R, S, C extends Columns<R>>(
  visit: Visit,
  deps: Pick<ConsoleDeps, 'orm'>,
  list: List<R, S, C>,
  page: Omit<ListOptions<R, S, C>, 'label'> & {
    title: string;
    /** Label of the table; default: the page's title. */
    label?: string;
    live?: readonly Topic[];
    above?: Html;
    below?: Html;
  },
): Promise<Answer> {
  const { title, live, above, below, filters, ...options } = page;
  const pageList = pageListOf(deps, list, { label: title, ...options, ...(filters ? { filters } : {}) });
  if (visit.invalidQuery.size > 0) return showInvalidFilters(visit, pageList, title);
  if (page.query['format'] === 'csv') return createCsv(pageList);
  const saved =
    filters && (await listSavedFilters(deps.orm.em.fork(), signedIn(visit).session.personId, page.path));
  const body = [
    above,
    filters && filterForm(visit, pageList),
    saved && renderSavedFilters(visit, { path: page.path, current: addressOf(pageList) }, saved),
    panel(null, await renderTableAndLinks(visit, pageList)),
    below,
  ];
  return show(title, html`${body}`, live ? { live } : {});
}

/** A list on a page with other content. */
export interface ListPart {
  readonly name: string;
  readonly label: string;
  /** Renders the table with links to the next page and to the CSV. */
  render(): Promise<Html>;
  /** Returns all rows as CSV. */
  csv(): Answer;
}

/** Returns a list for a page with other content. */
export function listPart<R, S, C extends Columns<R>>(
  visit: Visit,
  deps: Pick<ConsoleDeps, 'orm'>,
  list: List<R, S, C>,
  options: ListOptions<R, S, C>,
): ListPart {
  const pageList = pageListOf(deps, list, options);
  const { name, label } = pageList;
  return {
    name,
    label,
    render: () => renderTableAndLinks(visit, pageList),
    csv: () => createCsv(pageList),
  };
}

/** Returns the CSV of the list that a query names, else of the first list. Null if the query requests no CSV. */
export const csvAnswer = (
  query: { readonly format?: 'csv' | undefined; readonly list?: string | undefined },
  parts: readonly [ListPart, ...ListPart[]],
): Answer | null =>
  query.format === undefined ? null : (parts.find(({ name }) => name === query.list) ?? parts[0]).csv();

/** Shows the filters of a list, with the invalid ones marked. */
function showInvalidFilters<R>(visit: Visit, list: PageList<R>, title: string): Answer {
  const wrong = list.filters.filter(({ name }) => visit.invalidQuery.has(name));
  if (wrong.length < visit.invalidQuery.size) throw new Refusal('INVALID_INPUT', 'query');
  const faults = wrong.map(
    (filter) => html`<p class="flash failed" role="alert">${describeInvalid(visit, filter)}</p>`,
  );
  return show(title, html`${faults}${filterForm(visit, list)}`, { status: 400 });
}

async function renderTableAndLinks<R>(visit: Visit, list: PageList<R>): Promise<Html> {
  const { lists: words } = visit.texts;
  const isRequested = !list.isPart || list.query['list'] === list.name;
  const after = isRequested ? textIn(list.query, 'after') : undefined;
  const rowsWithNext = await list.readRows({ after: parseCursor(visit, list, after), limit: PAGE_ROWS + 1 });
  const rows = rowsWithNext.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  const firstPage = after !== undefined && html`<a href="${addressOf(list)}">${words.first}</a>`;
  if (!last) {
    const isWhole = !isFiltered(list.query, list.filters) && after === undefined;
    const text = isWhole ? (list.emptyAtFirst ?? list.empty) : list.empty;
    return html`${renderEmpty(text)}${firstPage && html`<p>${firstPage}</p>`}`;
  }
  const next = addressOf(list, { after: encodeCursor(list.key.of(last)) });
  const links = [
    firstPage,
    rowsWithNext.length > PAGE_ROWS && html`<a href="${next}" rel="next">${words.next}</a>`,
    html`<a class="csv" href="${addressOf(list, { format: 'csv' })}" download>${words.csv}</a>`,
  ];
  return html`${list.ticks && tickForm(visit, list.name, list.ticks)}${renderTable(visit, list, rows)}
    <div class="more buttons">${links}</div>`;
}

/** Returns all rows of a list as CSV (RFC 4180), streamed in pages. */
function createCsv<R>({ name, columns, key, ...list }: PageList<R>): Answer {
  async function* lines(): AsyncGenerator<string> {
    // Makes spreadsheets read UTF-8.
    yield `\uFEFF${csvLine(Object.keys(columns))}`;
    let after: readonly string[] | null = null;
    for (;;) {
      const rows: readonly R[] = await list.readRows({ after, limit: CSV_ROWS });
      const values = (row: R) => Object.values(columns).map((source) => valueIn(source, row));
      if (rows.length > 0) yield rows.map((row) => csvLine(values(row))).join('');
      const last = rows.at(-1);
      if (!last || rows.length < CSV_ROWS) return;
      after = key.of(last);
    }
  }
  return {
    kind: 'file',
    name: `${name}.csv`,
    type: 'text/csv; charset=utf-8',
    content: Readable.from(lines()),
  };
}

/** Returns the path of the list with its filters, and with `more` parameters. */
function addressOf<R>(
  { path, name, isPart, query, filters }: PageList<R>,
  more: Readonly<Record<string, string>> = {},
): string {
  const values = Object.fromEntries(filters.map((filter) => [filter.name, textIn(query, filter.name)]));
  return link(path, {
    ...values,
    ...(isPart && Object.keys(more).length > 0 ? { list: name } : {}),
    ...more,
  });
}

const textIn = (query: Query, name: string): string | undefined => query[name]?.toString();

function parseCursor<R>(visit: Visit, { key }: PageList<R>, after: string | undefined): string[] | null {
  if (after === undefined) return null;
  const values = decodeCursor(after, key.parts);
  if (!values) throw new LocalizedRefusal('INVALID_INPUT', visit.texts.lists.wrongCursor);
  return values;
}

function renderTable<R>(visit: Visit, list: PageList<R>, rows: readonly R[]): Html {
  const { ticks } = list;
  const [firstColumn] = Object.values(list.columns);
  const heads = list.shownColumns.map(
    ({ head, isFigure }) => html`<th scope="col" class="${isFigure ? 'figure' : ''}">${head}</th>`,
  );
  const bodyRows = rows.map((row) => {
    const id = rowId(list.name, list.key.of(row));
    const value = ticks?.value(row) ?? null;
    const cells = list.shownColumns.map((column, i) => {
      const href = i === 0 ? list.href?.(row) : null;
      const content = column.cell(row);
      return html`<td class="${column.isFigure ? 'figure' : ''}">
        ${href ? html`<a class="row" href="${href}">${content}</a>` : content}
      </td>`;
    });
    const rowName = firstColumn ? plainText(valueIn(firstColumn, row)) : '';
    const tick =
      ticks && value !== null && tickBox(visit, list.name, { name: ticks.name, value, rowId: id, rowName });
    return html`<tr id="${id}" tabindex="-1">
      ${ticks && html`<td>${tick}</td>`}${cells}
    </tr>`;
  });
  const tickHead = ticks && html`<th scope="col"><span class="unseen">${visit.texts.lists.tick}</span></th>`;
  const head = html`<thead>
    <tr>
      ${tickHead}${heads}
    </tr>
  </thead>`;
  const table = html`<table class="list">
    ${head}
    <tbody>
      ${bodyRows}
    </tbody>
  </table>`;
  return html`<div class="wide" role="region" aria-label="${list.label}" tabindex="0">${table}</div>`;
}

/** Returns the HTML id of a row, which stays the same when the page reloads. */
const rowId = (list: string, key: readonly string[]): string =>
  [list, ...key].join('-').replaceAll(/\s/g, '_');

/** Renders a box of the form above the table. The form's id links them, because rows may contain other forms. */
const tickBox = (
  visit: Visit,
  list: string,
  row: { name: string; value: string; rowId: string; rowName: string },
): Html =>
  html`<input
    type="checkbox"
    id="tick-${row.rowId}"
    name="${row.name}"
    value="${row.value}"
    form="ticks-${list}"
    aria-label="${visit.texts.lists.tick} ${row.rowName}"
  />`;

function tickForm(visit: Visit, name: string, { action, content }: { action: string; content: Html }): Html {
  const token = hidden('form_token', visit.formToken);
  return html`<form method="post" action="${action}" id="ticks-${name}" class="ticks">
    ${token}${content}
  </form>`;
}

/** Returns one line of a CSV with its line break; dates in Montevideo's time, as on the pages. @internal exported for tests */
export const csvLine = (values: readonly ColumnValue[]): string => `${values.map(csvField).join(',')}\r\n`;

function csvField(value: ColumnValue): string {
  const text = value instanceof Date ? plainText(value) : escapeFormula(plainText(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function plainText(value: ColumnValue): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return timestampText(value);
  if (Array.isArray(value)) return value.join(' ');
  return isExactNumber(value) ? value.rawJSON : String(value);
}

/** Puts an apostrophe before a text that spreadsheets would run as a formula. */
const escapeFormula = (text: string): string =>
  /^[=+\-@\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
