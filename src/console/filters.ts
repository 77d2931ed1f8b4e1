/** Filters of lists: the query of a page, and the fields that people fill in. */
import * as z from 'zod';
import { type ListFilters, SoughtRut } from '../lists/list.ts';
import { type Html, html } from '../page/html.ts';
import { select } from './fields.ts';
import type { Visit } from './page.ts';
import { button, optionsOf } from './parts.ts';

/** Query parameters of every list's page, besides its filters. */
export const LIST_QUERY = {
  after: z.string().max(4_000).optional(),
  format: z.literal('csv').optional(),
  /** Names the list, on a page with several. */
  list: z.string().max(40).optional(),
} as const;

type Query = Readonly<Record<string, string | number | undefined>>;

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

/** Returns the schemas of a list's filters, for a page's query and fields. */
export const filterSchemas = <F extends ListFilters>({ filters }: { readonly filters: F }) =>
  Object.fromEntries(Object.entries(filters).map(([name, { schema }]) => [name, schema])) as {
    readonly [N in keyof F]: F[N]['schema'];
  };

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

/** Describes an invalid filter, with the rule of its values. */
export function describeInvalid({ texts: { lists: words } }: Visit, { label, type, rule }: Filter): string {
  const known = type === 'date' ? 'date' : rule;
  return `${words.wrong(label)}${known ? ` ${words.rules[known]}` : ''}`;
}

/** Returns whether a query has a value of one of the filters. */
export const isNarrowed = (query: Query, filters: readonly Filter[]): boolean =>
  filters.some(({ name }) => query[name] !== undefined);

/** Renders the fields of the filters of the list at `path`. */
export function filterForm(
  visit: Visit,
  {
    path,
    query,
    filters,
  }: { readonly path: string; readonly query: Query; readonly filters: readonly Filter[] },
): Html {
  const { lists: words } = visit.texts;
  const fields = filters.map((filter) => filterField(visit, filter, query[filter.name]?.toString()));
  const isSet = isNarrowed(query, filters) || visit.invalidQuery.size > 0;
  const clear = isSet && html`<a href="${path}">${words.clear}</a>`;
  return html`<form class="filters" method="get" action="${path}">
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
