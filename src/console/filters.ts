/** Filters of lists: the query of a page, and the fields that people fill in. */
import * as z from 'zod';
import { type ListFilters, TypedRut } from '../lists/list.ts';
import { type Html, html } from '../page/html.ts';
import { select } from './fields.ts';
import type { Visit } from './page.ts';
import { button, optionsOf } from './parts.ts';

/** Query parameters of every list's page, except its filters. */
export const LIST_QUERY = {
  after: z.string().max(4_000).optional(),
  format: z.literal('csv').optional(),
  /** Names the list, on a page with several. */
  list: z.string().max(40).optional(),
} as const;

type Query = Readonly<Record<string, string | number | undefined>>;

const MAX_VALUE_LENGTH = 255;
type FilterSchemas = Readonly<Record<string, z.ZodType<unknown, string | undefined>>>;

/** Returns the query of a list's page with these filters, each optional. */
export function listQuery<F extends FilterSchemas>(filters: F) {
  const typed = z.string().max(MAX_VALUE_LENGTH).trim();
  const nonEmpty = typed.transform((value) => (value === '' ? undefined : value));
  const schemas = Object.fromEntries(
    Object.entries(filters).map(([name, schema]) => [name, nonEmpty.pipe(schema.optional()).optional()]),
  );
  return z.object({ ...LIST_QUERY, ...(schemas as unknown as { [N in keyof F]: z.ZodOptional<F[N]> }) });
}

/** A field that filters a list; `name` is its name in the query. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'date' | 'search';
  /** Values to choose from, with their labels. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  /** Rule to show with an invalid value; dates have one by their type. */
  readonly rule?: keyof Visit['texts']['lists']['rules'];
}

/** Texts of a filter: a label, a label with its choices, or the whole field. */
type FilterWords =
  | string
  | readonly [label: string, choices: Filter['options'] | Parameters<typeof optionsOf<string>>[1]]
  | Omit<Filter, 'name'>;

/** Returns the schemas of a list's filters, for a page's query and fields. */
export const filterSchemas = <F extends ListFilters>({ filters }: { readonly filters: F }) =>
  Object.fromEntries(Object.entries(filters).map(([name, { schema }]) => [name, schema])) as {
    readonly [N in keyof F]: F[N]['schema'];
  };

/** Returns the fields of filters, in the order of their texts. */
export const filterFields = <F extends FilterSchemas>(
  filters: F,
  words: { readonly [N in keyof F]?: FilterWords },
): Filter[] =>
  Object.entries<FilterWords | undefined>(words).map(([name, text = name]) => {
    const declared = filters[name];
    const schema = declared instanceof z.ZodOptional ? declared.unwrap() : declared;
    if (typeof text === 'string') return { name, label: text, ...inputKindOf(schema) };
    if (!isPair(text)) return { name, ...text };
    const [label, choices = []] = text;
    const values = schema instanceof z.ZodEnum ? schema.options.map(String) : [];
    return { name, label, options: isOptions(choices) ? choices : optionsOf(values, choices) };
  });

const isPair = (words: FilterWords): words is Extract<FilterWords, readonly unknown[]> =>
  Array.isArray(words);
const isOptions = (choices: unknown): choices is NonNullable<Filter['options']> => Array.isArray(choices);

/** Returns the input type of a filter, and the rule to show with an invalid value. */
function inputKindOf(schema: unknown): Pick<Filter, 'type' | 'rule'> {
  const { type, format, anyOf } = (schema instanceof z.ZodType && schema.meta()) || {};
  // A Moment has `anyOf`.
  if (format === 'date' || anyOf) return { type: 'date' };
  if (type === 'integer') return { rule: 'number' };
  if (schema === TypedRut) return { rule: 'rut' };
  return schema instanceof z.ZodUUID ? { rule: 'id' } : {};
}

/** Describes an invalid filter and the rule it breaks. */
export function describeInvalid({ texts: { lists: words } }: Visit, { label, type, rule }: Filter): string {
  const shownRule = type === 'date' ? 'date' : rule;
  return `${words.wrong(label)}${shownRule ? ` ${words.rules[shownRule]}` : ''}`;
}

/** Returns whether a query sets one of the filters. */
export const isFiltered = (query: Query, filters: readonly Filter[]): boolean =>
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
  const mayClear = isFiltered(query, filters) || visit.invalidQuery.size > 0;
  const clear = mayClear && html`<a href="${path}">${words.clear}</a>`;
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
        maxlength="${MAX_VALUE_LENGTH}"
        autocomplete="off"
        ${marks}
      />`;
  return html`<label class="field"><span>${label}</span>${control}</label>`;
}
