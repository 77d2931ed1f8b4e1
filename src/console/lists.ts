/** Lists: one definition of columns and filters serves the table, the pages that follow it, and the CSV of all that matches. */

import { Readable } from 'node:stream';
import * as z from 'zod';
import { listSavedFilters } from '../db/people.ts';
import { decodeCursor, encodeCursor, type KeyPart } from '../domain/cursor.ts';
import { Rut } from '../domain/rut.ts';
import { Refusal } from '../errors.ts';
import { type Html, html } from '../page/html.ts';
import type { Topic } from './changes.ts';
import { momentText } from './format.ts';
import { link } from './links.ts';
import { type Answer, type ConsoleDeps, show, signedIn, ToldRefusal, type Visit } from './page.ts';
import { button, form, hidden, nothing, panel } from './parts.ts';

/** Rows of one page of a list, and of one question while a CSV is written. */
const PAGE_ROWS = 50;
const CSV_ROWS = 500;

/** What every list's page takes in its query beside its filters. */
export const LIST_QUERY = {
  after: z.string().max(4_000).optional(),
  format: z.literal('csv').optional(),
  /** Which list of a page that has several. */
  list: z.string().max(40).optional(),
} as const;

/** The values of the boxes that were ticked, as a form sends them. */
export const Ticked = z
  .union([z.string(), z.array(z.string()).max(500)])
  .default([])
  .transform((values) => (typeof values === 'string' ? [values] : values));

type Part = Html | string | null | false;
type Query = Readonly<Record<string, string | undefined>>;

export interface Column<R> {
  /** Its head in the CSV. */
  readonly key: string;
  readonly head: string;
  /** Set right. */
  readonly isFigure?: boolean;
  /** In the CSV alone. */
  readonly csvOnly?: boolean;
  /** That of the first column is the link to the row: without one of its own. */
  cell(row: R): Part;
  csv(row: R): CsvValue;
}

/** What the CSV says of a row: the value of a field of it, by its name, or what a function makes of the row. */
type Told<R> = { [K in keyof R]-?: R[K] extends CsvValue ? K : never }[keyof R] | ((row: R) => CsvValue);

/** A column; the page shows what the CSV says, unless `cell` says it in other words. */
export function column<R>(key: string, head: string, told: Told<R>, cell?: (row: R) => Part): Column<R> {
  const csv = typeof told === 'function' ? told : (row: R) => row[told] as CsvValue;
  return { key, head, csv, cell: cell ?? ((row) => String(csv(row) ?? '')) };
}

/** A column that is set right. */
export const figureColumn = <R>(...told: Parameters<typeof column<R>>): Column<R> => ({
  ...column(...told),
  isFigure: true,
});

/** A column of the CSV alone. */
export const fileColumn = <R>(key: string, head: string, told: Told<R>): Column<R> => ({
  ...column(key, head, told),
  csvOnly: true,
});

/** A field by which a list is narrowed, by the name that it has in the query. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'date' | 'search';
  /** What there is to choose from: value and words. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  /** What its values look like; dates tell it by their type. */
  readonly rule?: keyof Visit['texts']['lists']['rules'];
}

export interface List<R> {
  /** Of the table for who hears it, and of the file. */
  readonly label: string;
  readonly name: string;
  readonly path: string;
  /** As the page was asked: the filters' values, and LIST_QUERY's. */
  readonly query: Query;
  readonly filters?: readonly Filter[];
  readonly columns: readonly Column<R>[];
  /** Stands on a page with other lists. */
  readonly isPart?: boolean;
  /** The rows behind a key, in the list's order, `limit` of them at most. */
  read(page: { after: readonly string[] | null; limit: number }): Promise<readonly R[]>;
  /** By what rows are in order: one value for each part, enough to tell any two apart. */
  readonly key: { readonly parts: readonly KeyPart[]; of(row: R): readonly string[] };
  /** Where a row leads; a path of ours. */
  href?(row: R): string | null;
  /** Rows can be ticked: their values are sent as `name` with the form at `action`, which has `content`. */
  readonly ticks?: {
    readonly name: string;
    of(row: R): string | null;
    readonly action: string;
    readonly content: Html;
  };
  /** What is said where no row matches. */
  readonly empty: string;
  /** What is said instead where nothing is asked for, and there is nothing at all: how there comes to be something. */
  readonly emptyAtFirst?: string;
}

/** A RUT by which a list is narrowed: with points, hyphens and spaces too, as it is printed. */
export const SoughtRut = z
  .string()
  .max(40)
  .transform((typed) => typed.replaceAll(/[\s.-]/g, ''))
  .pipe(Rut);

/**
 * A page that is a list: its filters, its table, what leads on; or with `format=csv` the file. Where a filter has no value that it
 * can have there is nothing but the filters, which say so: what matches the others is not what was asked for.
 */
export async function listing<R>(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  page: Omit<List<R>, 'label'> & {
    title: string;
    /** Of the table; the title of the page unless told. */
    label?: string;
    live?: readonly Topic[];
    above?: Html;
    below?: Html;
  },
): Promise<Answer> {
  const list = { label: page.title, ...page };
  if (visit.unread.size > 0) return unreadFilters(visit, list);
  if (list.query['format'] === 'csv') return csvOf(list);
  const saved =
    list.filters && (await listSavedFilters(orm.em.fork(), signedIn(visit).session.personId, list.path));
  const body = html`${list.above}${list.filters && filterForm(visit, list, list.filters)}${saved && savedFilters(visit, list, saved)}
${panel(null, await listPart(visit, list))}${list.below}`;
  return show(list.title, body, list.live ? { live: list.live } : {});
}

/** The filters of a list, and which of them have no value that they can have. */
function unreadFilters<R>(visit: Visit, list: List<R> & { title: string }): Answer {
  const { filters = [], title } = list;
  const wrong = filters.filter(({ name }) => visit.unread.has(name));
  if (wrong.length < visit.unread.size) throw new Refusal('INVALID_INPUT', 'query');
  const faults = wrong.map(
    (filter) => html`<p class="flash failed" role="alert">${faultOf(visit, filter)}</p>`,
  );
  return show(title, html`${faults}${filterForm(visit, list, filters)}`, { status: 400 });
}

function faultOf({ texts: { lists: words } }: Visit, { label, type, rule }: Filter): string {
  const known = type === 'date' ? 'date' : rule;
  return `${words.wrong(label)}${known ? ` ${words.rules[known]}` : ''}`;
}

/** The table of a list with what leads on, to stand in a page. */
export async function listPart<R>(visit: Visit, list: List<R>): Promise<Html> {
  const { lists: words } = visit.texts;
  const isAsked = !list.isPart || list.query['list'] === list.name;
  const after = isAsked ? list.query['after'] : undefined;
  const found = await list.read({ after: keyIn(visit, list, after), limit: PAGE_ROWS + 1 });
  const rows = found.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  const first = after !== undefined && html`<a href="${address(list)}">${words.first}</a>`;
  if (!last) {
    const isAtFirst = !isNarrowed(list) && after === undefined;
    const said = isAtFirst ? (list.emptyAtFirst ?? list.empty) : list.empty;
    return html`${nothing(said)}${first && html`<p>${first}</p>`}`;
  }
  const more = [
    first,
    found.length > PAGE_ROWS &&
      html`<a href="${address(list, { after: encodeCursor(list.key.of(last)) })}" rel="next">${words.next}</a>`,
    html`<a class="csv" href="${address(list, { format: 'csv' })}" download>${words.csv}</a>`,
  ];
  return html`${list.ticks && tickForm(visit, list.name, list.ticks)}${tableOf(visit, list, rows)}<div class="more buttons">
${more}</div>`;
}

/** How a list reads rows that are all at hand, as of what never has many; `idOf` tells any two apart. */
export const inMemory = <R>(rows: readonly R[], idOf: (row: R) => string): Pick<List<R>, 'read' | 'key'> => ({
  async read({ after, limit }) {
    const from = after ? rows.findIndex((row) => idOf(row) === after[0]) + 1 : 0;
    return rows.slice(from, from + limit);
  },
  key: { parts: ['text'], of: (row) => [idOf(row)] },
});

/** All rows that match, as CSV (RFC 4180, in UTF-8 with its mark, by which spreadsheets know it), read page by page while it is sent. */
export function csvOf<R>(list: List<R>): Answer {
  async function* lines(): AsyncGenerator<string> {
    yield `\uFEFF${csvLine(list.columns.map(({ key }) => key))}`;
    let after: readonly string[] | null = null;
    for (;;) {
      const rows = await list.read({ after, limit: CSV_ROWS });
      if (rows.length > 0)
        yield rows.map((row) => csvLine(list.columns.map((column) => column.csv(row)))).join('');
      const last = rows.at(-1);
      if (!last || rows.length < CSV_ROWS) return;
      after = list.key.of(last);
    }
  }
  return {
    kind: 'file',
    name: `${list.name}.csv`,
    type: 'text/csv; charset=utf-8',
    content: Readable.from(lines()),
  };
}

/** Where the list stands, with its filters and what is added. */
function address<R>({ path, name, isPart, ...list }: List<R>, more: Query = {}): string {
  return link(path, {
    ...filtersOf(list),
    ...(isPart && Object.keys(more).length > 0 ? { list: name } : {}),
    ...more,
  });
}

/** The filters that are set. */
const filtersOf = ({ query, filters = [] }: Pick<List<never>, 'query' | 'filters'>): Query =>
  Object.fromEntries(filters.map(({ name }) => [name, query[name]]));

const isNarrowed = <R>({ query, filters = [] }: List<R>): boolean =>
  filters.some(({ name }) => query[name] !== undefined);

function keyIn<R>(visit: Visit, { key }: List<R>, after: string | undefined): string[] | null {
  if (after === undefined) return null;
  const values = decodeCursor(after, key.parts);
  if (!values) throw new ToldRefusal('INVALID_INPUT', visit.texts.lists.wrongCursor);
  return values;
}

function tableOf<R>(visit: Visit, list: List<R>, rows: readonly R[]): Html {
  const { ticks } = list;
  const columns = list.columns.filter(({ csvOnly }) => !csvOnly);
  const heads = columns.map(
    ({ head, isFigure }) => html`<th scope="col" class="${isFigure ? 'figure' : ''}">${head}</th>`,
  );
  const drawn = rows.map((row) => {
    const key = idOf(list.name, list.key.of(row));
    const value = ticks?.of(row) ?? null;
    const cells = columns.map((column, i) => {
      const href = i === 0 ? list.href?.(row) : null;
      const shown = column.cell(row);
      return html`<td class="${column.isFigure ? 'figure' : ''}">${href ? html`<a class="row" href="${href}">${shown}</a>` : shown}</td>`;
    });
    const of = String(columns[0]?.csv(row) ?? '');
    const tick = ticks && value !== null && tickBox(visit, list.name, { name: ticks.name, value, key, of });
    return html`<tr id="${key}" tabindex="-1">${ticks && html`<td>${tick}</td>`}${cells}</tr>`;
  });
  const tickHead = ticks && html`<th scope="col"><span class="unseen">${visit.texts.lists.tick}</span></th>`;
  const head = html`<thead><tr>${tickHead}${heads}</tr></thead>`;
  const shown = html`<table class="list">${head}<tbody>${drawn}</tbody></table>`;
  return html`<div class="wide" role="region" aria-label="${list.label}" tabindex="0">${shown}</div>`;
}

/** Of a row, by which an update finds it again. */
const idOf = (list: string, key: readonly string[]): string =>
  [list, ...key].join('-').replaceAll(/\s/g, '_');

/** A box of the form above the table; it belongs to it by its id, so that rows may hold forms of their own. */
const tickBox = (
  visit: Visit,
  list: string,
  { name, value, key, of }: { name: string; value: string; key: string; of: string },
): Html => {
  const told = html` form="ticks-${list}" aria-label="${visit.texts.lists.tick} ${of}"`;
  return html`<input type="checkbox" id="tick-${key}" name="${name}" value="${value}"${told}>`;
};

function tickForm(visit: Visit, name: string, { action, content }: { action: string; content: Html }): Html {
  const token = hidden('form_token', visit.formToken);
  return html`<form method="post" action="${action}" id="ticks-${name}" class="ticks">${token}${content}</form>`;
}

function filterForm<R>(visit: Visit, list: List<R>, filters: readonly Filter[]): Html {
  const { lists: words } = visit.texts;
  const fields = filters.map((filter) => filterField(visit, filter, list.query[filter.name]));
  const isSet = isNarrowed(list) || visit.unread.size > 0;
  const clear = isSet && html`<a href="${list.path}">${words.clear}</a>`;
  return html`<form class="filters" method="get" action="${list.path}">${fields}
<div class="buttons">${button(words.filter)}${clear}</div></form>`;
}

function filterField(visit: Visit, { name, label, type = 'text', options }: Filter, asked = ''): Html {
  const value = visit.unread.get(name) ?? asked;
  const marks = visit.unread.has(name) && html` aria-invalid="true"`;
  if (!options) {
    const told = html` maxlength="255" autocomplete="off"${marks}`;
    const typed = html`<input name="${name}" type="${type}" value="${value}"${told}>`;
    return html`<label class="field"><span>${label}</span>${typed}</label>`;
  }
  const all: Filter['options'] = [['', '–'], ...options];
  return html`<label class="field"><span>${label}</span><select name="${name}"${marks}>${all.map(
    ([one, words]) => html`<option value="${one}"${one === value && html` selected`}>${words}</option>`,
  )}</select></label>`;
}

/** The filters that a person has saved for this list; the one that is set can be saved. */
function savedFilters<R>(
  visit: Visit,
  list: List<R>,
  saved: Awaited<ReturnType<typeof listSavedFilters>>,
): Html {
  const { lists: words } = visit.texts;
  const here = address(list);
  const isSet = here !== list.path;
  const isSaved = saved.some(({ query }) => `${list.path}?${query}` === here);
  if (saved.length === 0 && !isSet) return html``;
  const all = saved.map(({ id, name, query }) => {
    const to = `${list.path}?${query}`;
    const leads = html`<a href="${to}"${to === here && html` aria-current="true"`}>${name}</a>`;
    const button = html`<button class="quiet" aria-label="${words.forget(name)}">×</button>`;
    const forget = form(visit, `/saved-filters/${id}/delete`, [hidden('to', here), button], 'inline');
    return html`<span class="one">${leads}${forget}</span>`;
  });
  const told = html`aria-label="${words.saveAs}" placeholder="${words.saveAs}"`;
  const name = html`<input name="name" maxlength="60" required autocomplete="off" ${told}>`;
  const save = form(visit, '/saved-filters', [hidden('to', here), name, button(words.saveGo)], 'inline');
  return html`<div class="saved">${all}${
    isSet && !isSaved && html`<details id="save-filter"><summary>${words.save}</summary>${save}</details>`
  }</div>`;
}

/** Comma-separated values (RFC 4180), for spreadsheets too. */

/** A moment stands in Montevideo's time, as on the pages. */
type CsvValue = string | number | boolean | Date | null | undefined;

/** One line with its end. @internal exported for tests */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(field).join(',')}\r\n`;

function field(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  const text = value instanceof Date ? momentText(value) : harmless(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet would take for a formula gets an apostrophe before it; a plain number is none. */
const harmless = (text: string): string =>
  /^[=+\-@\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
