/** The tables, pages and CSV files of lists (src/lists), with the headings, cells and filters of a page. */

import { Readable } from 'node:stream';
import type { ListPage } from '../db/page.ts';
import { listSavedFilters } from '../db/people/people.ts';
import { decodeCursor, encodeCursor } from '../domain/values/cursor.ts';
import { isExactNumber } from '../domain/values/exactNumber.ts';
import { Refusal } from '../errors.ts';
import { type Columns, type ColumnValue, type List, valueIn } from '../lists/list.ts';
import { type Html, html } from '../page/html.ts';
import type { Topic } from './changes.ts';
import { describeInvalid, type Filter, filterForm, isNarrowed } from './filters.ts';
import { timestampText } from './format.ts';
import { link } from './links.ts';
import { type Answer, type ConsoleDeps, LocalizedRefusal, show, signedIn, type Visit } from './page.ts';
import { hidden, nothing, panel } from './parts.ts';
import { savedFilters } from './savedFilters.ts';

/** Rows of one page of a list, and of one query of a CSV. */
const PAGE_ROWS = 50;
const CSV_ROWS = 500;

type Part = Html | string | null | false;
type Query = Readonly<Record<string, string | number | undefined>>;

/** A heading with the cells below it; without them the page shows the column's value. */
export interface Heading<R> {
  readonly head: string;
  cell?(row: R): Part;
  /** Aligned right. */
  readonly isFigure?: boolean;
}

/** The columns of a list that a page shows; the CSV has all. */
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
export interface ShownColumn<R> extends Heading<R> {
  cell(row: R): Part;
}

/** Returns the columns of a list that have a heading, in the list's order. */
export const shownColumns = <R, C extends Columns<R>>(
  { columns }: { readonly columns: C },
  headings: Headings<R, C>,
): ShownColumn<R>[] =>
  Object.entries(columns).flatMap(([name, source]) => {
    const heading = headings[name];
    if (heading === undefined || heading === false) return [];
    const given =
      typeof heading === 'string'
        ? { head: heading }
        : 'head' in heading
          ? heading
          : { head: heading[0], cell: heading[1] };
    return [{ cell: (row: R) => plainText(valueIn(source, row)), ...given }];
  });

/** A list as a page shows it. */
export interface ShownList<R, S, C> {
  readonly search: S;
  readonly headings: Headings<R, C>;
  readonly path: string;
  /** Query of the request: the values of the filters and of LIST_QUERY. */
  readonly query: Query;
  readonly filters?: readonly Filter[];
  /** Label of the table for screen readers. */
  readonly label: string;
  /** Is on a page with other lists. */
  readonly isPart?: boolean;
  /** Returns the path of a row's page. The first column's cell is then a link and must not contain another. */
  href?(row: R): string | null;
  /** Boxes to tick rows: the form at `action`, with `content`, sends their values as `name`. */
  readonly ticks?: {
    readonly name: string;
    of(row: R): string | null;
    readonly action: string;
    readonly content: Html;
  };
  /** Text if no row matches. */
  readonly empty: string;
  /** Text of a list that is empty even without filters: how to add the first row. */
  readonly emptyAtFirst?: string;
}

/** A list and how a page shows it. */
type Rendered<R> = Pick<List<R, never>, 'name' | 'key' | 'columns'> &
  Omit<ShownList<R, never, never>, 'search' | 'headings' | 'filters'> & {
    readonly filters: readonly Filter[];
    readonly shown: readonly ShownColumn<R>[];
    rowsOf(page: ListPage): Promise<readonly R[]>;
  };

const renderedOf = <R, S, C extends Columns<R>>(
  { orm }: Pick<ConsoleDeps, 'orm'>,
  list: List<R, S, C>,
  { search, headings, ...page }: ShownList<R, S, C>,
): Rendered<R> => ({
  ...page,
  ...list,
  filters: page.filters ?? [],
  shown: shownColumns(list, headings),
  rowsOf: (rows) => list.read(orm.em.fork(), search, rows),
});

/**
 * Returns the page of a list, or its CSV with `format=csv`. An invalid filter shows only the filters with the error: rows that
 * match the other filters would mislead.
 */
export async function showList<R, S, C extends Columns<R>>(
  visit: Visit,
  deps: Pick<ConsoleDeps, 'orm'>,
  list: List<R, S, C>,
  page: Omit<ShownList<R, S, C>, 'label'> & {
    title: string;
    /** Label of the table; default: the page's title. */
    label?: string;
    live?: readonly Topic[];
    above?: Html;
    below?: Html;
  },
): Promise<Answer> {
  const { title, live, above, below, filters, ...shown } = page;
  const rendered = renderedOf(deps, list, { label: title, ...shown, ...(filters ? { filters } : {}) });
  if (visit.invalidQuery.size > 0) return showInvalidFilters(visit, rendered, title);
  if (page.query['format'] === 'csv') return csvOf(rendered);
  const saved =
    filters && (await listSavedFilters(deps.orm.em.fork(), signedIn(visit).session.personId, page.path));
  const body = [
    above,
    filters && filterForm(visit, rendered),
    saved && savedFilters(visit, { path: page.path, here: address(rendered) }, saved),
    panel(null, await tableWithLinks(visit, rendered)),
    below,
  ];
  return show(title, html`${body}`, live ? { live } : {});
}

/** A list as part of a page. */
export interface ListPart {
  readonly name: string;
  readonly label: string;
  /** Renders its table, with the links to the next page and the CSV. */
  render(): Promise<Html>;
  /** Returns all its rows as CSV. */
  csv(): Answer;
}

/** Returns a list as part of a page. */
export function listPart<R, S, C extends Columns<R>>(
  visit: Visit,
  deps: Pick<ConsoleDeps, 'orm'>,
  list: List<R, S, C>,
  shown: ShownList<R, S, C>,
): ListPart {
  const rendered = renderedOf(deps, list, shown);
  const { name, label } = rendered;
  return { name, label, render: () => tableWithLinks(visit, rendered), csv: () => csvOf(rendered) };
}

/** Returns the CSV that a query asks for: of the list that it names, else of the first. Null if it asks for none. */
export const csvAnswer = (
  query: { readonly format?: 'csv' | undefined; readonly list?: string | undefined },
  parts: readonly [ListPart, ...ListPart[]],
): Answer | null =>
  query.format === undefined ? null : (parts.find(({ name }) => name === query.list) ?? parts[0]).csv();

/** Shows the filters of a list, with the invalid ones marked. */
function showInvalidFilters<R>(visit: Visit, list: Rendered<R>, title: string): Answer {
  const wrong = list.filters.filter(({ name }) => visit.invalidQuery.has(name));
  if (wrong.length < visit.invalidQuery.size) throw new Refusal('INVALID_INPUT', 'query');
  const faults = wrong.map(
    (filter) => html`<p class="flash failed" role="alert">${describeInvalid(visit, filter)}</p>`,
  );
  return show(title, html`${faults}${filterForm(visit, list)}`, { status: 400 });
}

async function tableWithLinks<R>(visit: Visit, list: Rendered<R>): Promise<Html> {
  const { lists: words } = visit.texts;
  const isAsked = !list.isPart || list.query['list'] === list.name;
  const after = isAsked ? textOf(list.query, 'after') : undefined;
  const found = await list.rowsOf({ after: keyIn(visit, list, after), limit: PAGE_ROWS + 1 });
  const rows = found.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  const first = after !== undefined && html`<a href="${address(list)}">${words.first}</a>`;
  if (!last) {
    const isAtFirst = !isNarrowed(list.query, list.filters) && after === undefined;
    const text = isAtFirst ? (list.emptyAtFirst ?? list.empty) : list.empty;
    return html`${nothing(text)}${first && html`<p>${first}</p>`}`;
  }
  const next = address(list, { after: encodeCursor(list.key.of(last)) });
  const more = [
    first,
    found.length > PAGE_ROWS && html`<a href="${next}" rel="next">${words.next}</a>`,
    html`<a class="csv" href="${address(list, { format: 'csv' })}" download>${words.csv}</a>`,
  ];
  return html`${list.ticks && tickForm(visit, list.name, list.ticks)}${tableOf(visit, list, rows)}
    <div class="more buttons">${more}</div>`;
}

/** Returns all rows of a list as CSV (RFC 4180), streamed in pages. */
function csvOf<R>({
  name,
  columns,
  key,
  rowsOf,
}: Pick<Rendered<R>, 'name' | 'columns' | 'key' | 'rowsOf'>): Answer {
  async function* lines(): AsyncGenerator<string> {
    // The byte order mark makes spreadsheets read UTF-8.
    yield `\uFEFF${csvLine(Object.keys(columns))}`;
    let after: readonly string[] | null = null;
    for (;;) {
      const rows: readonly R[] = await rowsOf({ after, limit: CSV_ROWS });
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

/** Returns the address of the list, with its filters and `more`. */
function address<R>(
  { path, name, isPart, ...list }: Rendered<R>,
  more: Readonly<Record<string, string>> = {},
): string {
  return link(path, {
    ...filtersOf(list),
    ...(isPart && Object.keys(more).length > 0 ? { list: name } : {}),
    ...more,
  });
}

/** Returns the values of the filters. */
const filtersOf = ({ query, filters }: Pick<Rendered<never>, 'query' | 'filters'>) =>
  Object.fromEntries(filters.map(({ name }) => [name, textOf(query, name)]));

const textOf = (query: Query, name: string): string | undefined => query[name]?.toString();

function keyIn<R>(visit: Visit, { key }: Rendered<R>, after: string | undefined): string[] | null {
  if (after === undefined) return null;
  const values = decodeCursor(after, key.parts);
  if (!values) throw new LocalizedRefusal('INVALID_INPUT', visit.texts.lists.wrongCursor);
  return values;
}

function tableOf<R>(visit: Visit, list: Rendered<R>, rows: readonly R[]): Html {
  const { ticks } = list;
  const [firstSource] = Object.values(list.columns);
  const heads = list.shown.map(
    ({ head, isFigure }) => html`<th scope="col" class="${isFigure ? 'figure' : ''}">${head}</th>`,
  );
  const drawn = rows.map((row) => {
    const key = idOf(list.name, list.key.of(row));
    const value = ticks?.of(row) ?? null;
    const cells = list.shown.map((column, i) => {
      const href = i === 0 ? list.href?.(row) : null;
      const shown = column.cell(row);
      return html`<td class="${column.isFigure ? 'figure' : ''}">
        ${href ? html`<a class="row" href="${href}">${shown}</a>` : shown}
      </td>`;
    });
    const of = firstSource ? plainText(valueIn(firstSource, row)) : '';
    const tick = ticks && value !== null && tickBox(visit, list.name, { name: ticks.name, value, key, of });
    return html`<tr id="${key}" tabindex="-1">
      ${ticks && html`<td>${tick}</td>`}${cells}
    </tr>`;
  });
  const tickHead = ticks && html`<th scope="col"><span class="unseen">${visit.texts.lists.tick}</span></th>`;
  const head = html`<thead>
    <tr>
      ${tickHead}${heads}
    </tr>
  </thead>`;
  const shown = html`<table class="list">
    ${head}
    <tbody>
      ${drawn}
    </tbody>
  </table>`;
  return html`<div class="wide" role="region" aria-label="${list.label}" tabindex="0">${shown}</div>`;
}

/** Returns the HTML id of a row, which must stay the same when the page reloads. */
const idOf = (list: string, key: readonly string[]): string =>
  [list, ...key].join('-').replaceAll(/\s/g, '_');

/** Renders a box of the form above the table, linked by the form's id: rows may contain other forms. */
const tickBox = (
  visit: Visit,
  list: string,
  { name, value, key, of }: { name: string; value: string; key: string; of: string },
): Html =>
  html`<input
    type="checkbox"
    id="tick-${key}"
    name="${name}"
    value="${value}"
    form="ticks-${list}"
    aria-label="${visit.texts.lists.tick} ${of}"
  />`;

function tickForm(visit: Visit, name: string, { action, content }: { action: string; content: Html }): Html {
  const token = hidden('form_token', visit.formToken);
  return html`<form method="post" action="${action}" id="ticks-${name}" class="ticks">
    ${token}${content}
  </form>`;
}

/** Returns one line of a CSV with its line break; dates in Montevideo's time, as on the pages. @internal exported for tests */
export const csvLine = (values: readonly ColumnValue[]): string => `${values.map(field).join(',')}\r\n`;

function field(value: ColumnValue): string {
  const text = value instanceof Date ? plainText(value) : escapeFormula(plainText(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function plainText(value: ColumnValue): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return timestampText(value);
  if (Array.isArray(value)) return value.join(' ');
  return isExactNumber(value) ? value.rawJSON : String(value);
}

/** Prevents formulas in spreadsheets: puts an apostrophe before a text that starts like one, except a number. */
const escapeFormula = (text: string): string =>
  /^[=+\-@\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
