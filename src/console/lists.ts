/** Lists: one definition of columns and filters serves the table, its pages, and the CSV of all matching rows. */

import { Readable } from 'node:stream';
import * as z from 'zod';
import type { ListPage } from '../db/page.ts';
import { listSavedFilters } from '../db/people/people.ts';
import { decodeCursor, encodeCursor, type KeyPart } from '../domain/values/cursor.ts';
import { Refusal } from '../errors.ts';
import { SoughtRut } from '../lists/list.ts';
import { type Html, html } from '../page/html.ts';
import type { Topic } from './changes.ts';
import { select } from './fields.ts';
import { timestampText } from './format.ts';
import { link } from './links.ts';
import { type Answer, type ConsoleDeps, LocalizedRefusal, show, signedIn, type Visit } from './page.ts';
import { button, form, hidden, nothing, optionsOf, panel } from './parts.ts';

/** Rows of one page of a list, and of one query of a CSV. */
const PAGE_ROWS = 50;
const CSV_ROWS = 500;

/** Query parameters of every list's page, besides its filters. */
export const LIST_QUERY = {
  after: z.string().max(4_000).optional(),
  format: z.literal('csv').optional(),
  /** Names the list, on a page with several. */
  list: z.string().max(40).optional(),
} as const;

/** Longest value of a filter. */
const LONGEST_VALUE = 255;
type FilterSchemas = Readonly<Record<string, z.ZodType<unknown, string | undefined>>>;

/** Returns the query of a list's page with these filters, each optional. */
export function listQuery<F extends FilterSchemas>(filters: F) {
  const typed = z.string().max(LONGEST_VALUE).trim();
  const read = Object.entries(filters).map(([name, schema]) => {
    const given = typed.transform((value) => (value === '' ? undefined : value));
    return [name, given.pipe(schema.optional()).optional()];
  });
  const schemas = Object.fromEntries(read) as { [N in keyof F]: z.ZodType<z.output<F[N]> | undefined> };
  return z.object({ ...LIST_QUERY, ...(schemas as { [N in keyof F]: z.ZodOptional<F[N]> }) });
}

/** Values of the ticked boxes, as a form sends them. */
export const Ticked = z
  .union([z.string(), z.array(z.string()).max(500)])
  .default([])
  .transform((values) => (typeof values === 'string' ? [values] : values));

type Part = Html | string | null | false;
type Query = Readonly<Record<string, string | number | undefined>>;

export interface Column<R> {
  /** Head of the CSV's column. */
  readonly key: string;
  readonly head: string;
  /** Aligned right. */
  readonly isFigure?: boolean;
  /** Not on the page. */
  readonly csvOnly?: boolean;
  /** The first column's cell is the link to the row and must not contain another. */
  cell(row: R): Part;
  csv(row: R): CsvValue;
}

/** Source of the CSV's value: a field of the row, or a function of the row. */
type CsvSource<R> = { [K in keyof R]-?: R[K] extends CsvValue ? K : never }[keyof R] | ((row: R) => CsvValue);

/** Returns a column; the page shows the CSV's value, unless `cell` is set. */
export function column<R>(
  key: string,
  head: string,
  source: CsvSource<R>,
  cell?: (row: R) => Part,
): Column<R> {
  const csv = typeof source === 'function' ? source : (row: R) => row[source] as CsvValue;
  return { key, head, csv, cell: cell ?? ((row) => String(csv(row) ?? '')) };
}

/** Returns a column that is aligned right. */
export const figureColumn = <R>(...args: Parameters<typeof column<R>>): Column<R> => ({
  ...column(...args),
  isFigure: true,
});

/** Returns a column that only the CSV has. */
export const fileColumn = <R>(key: string, head: string, source: CsvSource<R>): Column<R> => ({
  ...column(key, head, source),
  csvOnly: true,
});

/** A field that filters a list; `name` is its name in the query. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'date' | 'search';
  /** Values to choose from, with their labels. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  /** Rule of its values, shown with an error; dates have theirs by type. */
  readonly rule?: keyof Visit['texts']['lists']['rules'];
}

/** Words of a filter: a label; a label with the choices, or with the words of each; or all of its field. */
type FilterWords =
  | string
  | readonly [label: string, choices: Filter['options'] | Parameters<typeof optionsOf<string>>[1]]
  | Omit<Filter, 'name'>;

/** Returns the fields of filters, in the order of their words. */
export const filterFields = <F extends FilterSchemas>(
  filters: F,
  words: { readonly [N in keyof F]?: FilterWords },
): Filter[] =>
  Object.entries<FilterWords | undefined>(words).map(([name, of = name]) => {
    const given = filters[name];
    const schema = given instanceof z.ZodOptional ? given.unwrap() : given;
    if (typeof of === 'string') return { name, label: of, ...kindOf(schema) };
    if (!isPair(of)) return { name, ...of };
    const [label, choices = []] = of;
    const values = schema instanceof z.ZodEnum ? schema.options.map(String) : [];
    return { name, label, options: isOptions(choices) ? choices : optionsOf(values, choices) };
  });

const isPair = (words: FilterWords): words is Extract<FilterWords, readonly unknown[]> =>
  Array.isArray(words);
const isOptions = (choices: unknown): choices is NonNullable<Filter['options']> => Array.isArray(choices);

/** Returns how a filter is typed, and the rule shown with an error. */
function kindOf(schema: unknown): Pick<Filter, 'type' | 'rule'> {
  const { type, format, anyOf } = (schema instanceof z.ZodType && schema.meta()) || {};
  if (format === 'date' || anyOf) return { type: 'date' };
  if (type === 'integer') return { rule: 'number' };
  if (schema === SoughtRut) return { rule: 'rut' };
  return schema instanceof z.ZodUUID ? { rule: 'id' } : {};
}

export interface List<R> {
  /** Label of the table for screen readers. */
  readonly label: string;
  readonly name: string;
  readonly path: string;
  /** Query of the request: the values of the filters and of LIST_QUERY. */
  readonly query: Query;
  readonly filters?: readonly Filter[];
  readonly columns: readonly Column<R>[];
  /** Is on a page with other lists. */
  readonly isPart?: boolean;
  /** Returns the rows after a key, in the list's order, up to `limit`. */
  read(page: ListPage): Promise<readonly R[]>;
  /** Sort key of a row, unique in the list. */
  readonly key: { readonly parts: readonly KeyPart[]; of(row: R): readonly string[] };
  /** Returns the path of a row's page. */
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

/**
 * Returns the page of a list, or its CSV with `format=csv`. An invalid filter shows only the filters with the error: rows that
 * match the other filters would mislead.
 */
export async function showList<R>(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  page: Omit<List<R>, 'label'> & {
    title: string;
    /** Label of the table; default: the page's title. */
    label?: string;
    live?: readonly Topic[];
    above?: Html;
    below?: Html;
  },
): Promise<Answer> {
  const list = { label: page.title, ...page };
  if (visit.invalidQuery.size > 0) return showInvalidFilters(visit, list);
  if (list.query['format'] === 'csv') return csvAnswer(list);
  const saved =
    list.filters && (await listSavedFilters(orm.em.fork(), signedIn(visit).session.personId, list.path));
  const body = [
    list.above,
    list.filters && filterForm(visit, list, list.filters),
    saved && savedFilters(visit, list, saved),
    panel(null, await renderList(visit, list)),
    list.below,
  ];
  return show(list.title, html`${body}`, list.live ? { live: list.live } : {});
}

/** Shows the filters of a list, with the invalid ones marked. */
function showInvalidFilters<R>(visit: Visit, list: List<R> & { title: string }): Answer {
  const { filters = [], title } = list;
  const wrong = filters.filter(({ name }) => visit.invalidQuery.has(name));
  if (wrong.length < visit.invalidQuery.size) throw new Refusal('INVALID_INPUT', 'query');
  const faults = wrong.map(
    (filter) => html`<p class="flash failed" role="alert">${faultOf(visit, filter)}</p>`,
  );
  return show(title, html`${faults}${filterForm(visit, list, filters)}`, { status: 400 });
}

function faultOf({ texts: { lists: words } }: Visit, { label, type, rule }: Filter): string {
  const known = type === 'date' ? 'date' : rule;
  return `${words.wrong(label)}${known ? ` ${words.rules[known]}` : ''}`;
}

/** Renders the table of a list, with the links to its next page and its CSV. */
export async function renderList<R>(visit: Visit, list: List<R>): Promise<Html> {
  const { lists: words } = visit.texts;
  const isAsked = !list.isPart || list.query['list'] === list.name;
  const after = isAsked ? textOf(list.query, 'after') : undefined;
  const found = await list.read({ after: keyIn(visit, list, after), limit: PAGE_ROWS + 1 });
  const rows = found.slice(0, PAGE_ROWS);
  const last = rows.at(-1);
  const first = after !== undefined && html`<a href="${address(list)}">${words.first}</a>`;
  if (!last) {
    const isAtFirst = !isNarrowed(list) && after === undefined;
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

/** Returns `read` and `key` of a list whose rows are few and read at once; `id`: the field with a unique id. */
export const inMemory = <R>(
  load: () => Promise<readonly R[]>,
  id: keyof R,
): Pick<List<R>, 'read' | 'key'> => ({
  async read({ after, limit }) {
    const rows = await load();
    const from = after ? rows.findIndex((row) => String(row[id]) === after[0]) + 1 : 0;
    return rows.slice(from, from + limit);
  },
  key: { parts: ['text'], of: (row) => [String(row[id])] },
});

/** Returns all matching rows as CSV (RFC 4180), streamed in pages. The byte order mark makes spreadsheets read UTF-8. */
export function csvAnswer<R>(list: List<R>): Answer {
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

/** Returns the address of the list, with its filters and `more`. */
function address<R>(
  { path, name, isPart, ...list }: List<R>,
  more: Readonly<Record<string, string>> = {},
): string {
  return link(path, {
    ...filtersOf(list),
    ...(isPart && Object.keys(more).length > 0 ? { list: name } : {}),
    ...more,
  });
}

/** Returns the values of the filters. */
const filtersOf = ({ query, filters = [] }: Pick<List<never>, 'query' | 'filters'>) =>
  Object.fromEntries(filters.map(({ name }) => [name, textOf(query, name)]));

const textOf = (query: Query, name: string): string | undefined => query[name]?.toString();

const isNarrowed = <R>({ query, filters = [] }: List<R>): boolean =>
  filters.some(({ name }) => query[name] !== undefined);

function keyIn<R>(visit: Visit, { key }: List<R>, after: string | undefined): string[] | null {
  if (after === undefined) return null;
  const values = decodeCursor(after, key.parts);
  if (!values) throw new LocalizedRefusal('INVALID_INPUT', visit.texts.lists.wrongCursor);
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
      return html`<td class="${column.isFigure ? 'figure' : ''}">
        ${href ? html`<a class="row" href="${href}">${shown}</a>` : shown}
      </td>`;
    });
    const of = String(columns[0]?.csv(row) ?? '');
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

function filterForm<R>(visit: Visit, list: List<R>, filters: readonly Filter[]): Html {
  const { lists: words } = visit.texts;
  const fields = filters.map((filter) => filterField(visit, filter, textOf(list.query, filter.name)));
  const isSet = isNarrowed(list) || visit.invalidQuery.size > 0;
  const clear = isSet && html`<a href="${list.path}">${words.clear}</a>`;
  return html`<form class="filters" method="get" action="${list.path}">
    ${fields}
    <div class="buttons">${button(words.filter)}${clear}</div>
  </form>`;
}

function filterField(visit: Visit, { name, label, type = 'text', options }: Filter, queryValue = ''): Html {
  const value = visit.invalidQuery.get(name) ?? queryValue;
  const marks = html`${visit.invalidQuery.has(name) && html`aria-invalid="true"`}`;
  const control = options
    ? select(name, [['', '–'], ...options], value, marks)
    : html`<input
        name="${name}"
        type="${type}"
        value="${value}"
        maxlength="255"
        autocomplete="off"
        ${marks}
      />`;
  return html`<label class="field"><span>${label}</span>${control}</label>`;
}

/** Renders a person's saved filters of this list, and a form to save the current one. */
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
    const leads = html`<a href="${to}" ${to === here && html`aria-current="true"`}>${name}</a>`;
    const button = html`<button class="quiet" aria-label="${words.forget(name)}">×</button>`;
    const forget = form(visit, `/saved-filters/${id}/delete`, [hidden('to', here), button], 'inline');
    return html`<span class="one">${leads}${forget}</span>`;
  });
  const name = html`<input
    name="name"
    maxlength="60"
    required
    autocomplete="off"
    aria-label="${words.saveAs}"
    placeholder="${words.saveAs}"
  />`;
  const save = form(visit, '/saved-filters', [hidden('to', here), name, button(words.saveGo)], 'inline');
  return html`<div class="saved">
    ${all}${
      isSet &&
      !isSaved &&
      html`<details id="save-filter">
        <summary>${words.save}</summary>
        ${save}
      </details>`
    }
  </div>`;
}

/** A value of the CSV; dates are written in Montevideo's time, as on the pages. */
type CsvValue = string | number | boolean | Date | null | undefined;

/** Returns one line of a CSV with its line break. @internal exported for tests */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(field).join(',')}\r\n`;

function field(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  const text = value instanceof Date ? timestampText(value) : escapeFormula(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Prevents formulas in spreadsheets: puts an apostrophe before a text that starts like one, except a number. */
const escapeFormula = (text: string): string =>
  /^[=+\-@\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
