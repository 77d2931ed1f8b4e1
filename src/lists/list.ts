/** Lists, each declared once: its name, filters, columns and order, and the query of its rows. */
import type { EntityManager } from '@mikro-orm/postgresql';
import * as z from 'zod';
import type { ListPage } from '../db/page.ts';
import type { ViewerAccounts } from '../db/people/roles.ts';
import type { KeyPart } from '../domain/values/cursor.ts';
import { Moment, spanOfMoment } from '../domain/values/dates.ts';
import type { ExactNumber } from '../domain/values/exactNumber.ts';
import { Rut } from '../domain/values/rut.ts';

/** A filter of a list. */
export interface ListFilter<S extends z.ZodType<unknown, string> = z.ZodType<unknown, string>> {
  /** Reads its value from a query or an option. */
  readonly schema: S;
  /** What it leaves, after "only": "CFEs of this type". */
  readonly only: string;
  /** Name of its value in the command line; default: the last word of its own name. */
  readonly placeholder?: string;
}
export type ListFilters = Readonly<Record<string, ListFilter>>;

/** The values of filters, by name; all of them are optional. */
export type FilterValues<F extends ListFilters> = {
  readonly [N in keyof F]?: z.output<F[N]['schema']> | undefined;
};

/** A value in a CSV file or in the command line. */
export type ColumnValue =
  | string
  | number
  | boolean
  | Date
  | ExactNumber
  | readonly string[]
  | null
  | undefined;
type FieldsOf<R> = { [K in keyof R]-?: R[K] extends ColumnValue ? K : never }[keyof R];
/** Columns by name, each with its source: a field of the row, or a function of the row. */
export type Columns<R> = Readonly<Record<string, FieldsOf<R> | ((row: R) => ColumnValue)>>;

/** Whose rows a viewer sees: those of these accounts; null: of all. */
export interface VisibleTo {
  readonly accounts: ViewerAccounts;
}

/** A list of rows `R`, selected by `S`. */
export interface List<R, S, C extends Columns<R> = Columns<R>, F extends ListFilters = ListFilters> {
  /** Name of its CSV file. */
  readonly name: string;
  readonly filters: F;
  /** In CSV files, in the command line's JSON and, with headings, on the console's pages. */
  readonly columns: C;
  /** Key of a row, unique in the list: the values by which rows are ordered. */
  readonly key: { readonly parts: readonly KeyPart[]; of(row: R): readonly string[] };
  /** Returns the rows after a key, in the list's order, up to `limit`. */
  read(em: EntityManager, search: S, page: ListPage): Promise<readonly R[]>;
}

/** Returns a function that declares a list of rows `R`, selected by `S`. TypeScript cannot infer these two with the others. */
export const listOf =
  <R, S>() =>
  <const C extends Columns<R>, const F extends ListFilters>(list: List<R, S, C, F>): List<R, S, C, F> =>
    list;

/** Returns `key` and `read` of a list with so few rows that all are loaded for each page; `idOf`: of a row, unique. */
export const loadedAtOnce = <R, S>(
  idOf: (row: R) => string,
  load: (em: EntityManager, search: S) => Promise<readonly R[]>,
): Pick<List<R, S>, 'key' | 'read'> => ({
  key: { parts: ['text'], of: (row) => [idOf(row)] },
  async read(em, search, { after, limit }) {
    const rows = await load(em, search);
    const from = after ? rows.findIndex((row) => idOf(row) === after[0]) + 1 : 0;
    return rows.slice(from, from + limit);
  },
});

/** Returns a row's value in a column. */
export const valueIn = <R>(source: Columns<R>[string], row: R): ColumnValue =>
  typeof source === 'function' ? source(row) : (row[source] as ColumnValue);

/** Returns the values of a list's filters from a query that has them under the same names. */
export const filterValues = <F extends ListFilters>(
  { filters }: { readonly filters: F },
  query: { readonly [N in keyof F]?: unknown },
): FilterValues<F> =>
  Object.fromEntries(Object.keys(filters).map((name) => [name, query[name]])) as FilterValues<F>;

/** The filters that a query offers: the name of each in the query, and its name in the list. */
type Names<F extends ListFilters> = Readonly<Record<string, keyof F & string>>;
type Schemas<F extends ListFilters, N extends Names<F>> = {
  readonly [Q in keyof N]: z.ZodOptional<F[N[Q]]['schema']>;
};

/** Returns the schemas of these filters by their names in the API, and a function that reads their values from a query. */
export function nameFilters<F extends ListFilters, const N extends Names<F>>(
  { filters }: { readonly filters: F },
  names: N,
) {
  const schemas = Object.entries(names).map(([name, own]) => {
    const { schema, only } = filters[own] as ListFilter;
    return [name, schema.optional().meta({ description: `Only ${only}.` })] as const;
  });
  return {
    schemas: Object.fromEntries(schemas) as unknown as Schemas<F, N>,
    valuesOf: (query: { readonly [Q in keyof N]?: unknown }): FilterValues<Pick<F, N[keyof N]>> =>
      Object.fromEntries(Object.entries(names).map(([name, own]) => [own, query[name]])) as FilterValues<F>,
  };
}

/** Filters by time, of things such as `entries`. */
export const sinceFilters = (things: string) => ({
  since: {
    schema: Moment,
    only: `${things} from this time on: a day in Montevideo, such as 2026-11-20, or 2026-11-20T15:00:00Z`,
    placeholder: 'time',
  },
  until: {
    schema: Moment,
    only: `${things} until this time; a day in Montevideo counts to its end`,
    placeholder: 'time',
  },
});

/** Returns the span between two moments of a list's filters: from the first, before the second. */
export const spanBetween = (since: string | undefined, until: string | undefined) => ({
  from: since === undefined ? undefined : spanOfMoment(since).from,
  before: until === undefined ? undefined : spanOfMoment(until).before,
});

/** A RUT as people type it: points, hyphens and spaces of printed ones do not matter. */
export const TypedRut = z
  .string()
  .max(40)
  .transform((typed) => typed.replaceAll(/[\s.-]/g, ''))
  .pipe(Rut);
