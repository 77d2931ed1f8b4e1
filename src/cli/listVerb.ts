/** Verbs that show the lists of src/lists. */
import type * as z from 'zod';
import {
  type Columns,
  type ColumnValue,
  type FilterValues,
  type List,
  type ListFilters,
  valueIn,
} from '../lists/list.ts';
import { filterOptions, limitOption } from './inputs.ts';
import { type CliDeps, type OutputRow, readVerb } from './verb.ts';

/** Inputs of a verb: the filters of its list, and the verb's other inputs. */
type Input<F extends ListFilters, T extends z.ZodRawShape> = FilterValues<F> &
  z.output<z.ZodObject<T, z.core.$strict>>;

/** Returns all columns of a row for the command line. */
export const listedRow = <R>({ columns }: { readonly columns: Columns<R> }, row: R): OutputRow =>
  Object.fromEntries(Object.entries(columns).map(([name, source]) => [name, outputOf(valueIn(source, row))]));

const outputOf = (value: ColumnValue) => (value instanceof Date ? value.toISOString() : (value ?? null));

/** Defines a verb that lists the first rows of a list. */
export const listVerb = <R, S, F extends ListFilters, T extends z.ZodRawShape>(
  list: List<R, S, Columns<R>, F>,
  {
    takes,
    limit: [maximum, usual] = [1_000, 50],
    search,
    ...verb
  }: {
    readonly summary: string;
    /** Inputs besides the filters of the list. */
    readonly takes?: T;
    /** The largest and the usual number of rows. */
    readonly limit?: readonly [maximum: number, usual: number];
    readonly examples?: readonly string[];
    /** Columns in the table for people, separated by spaces; all by default. */
    readonly columns?: string;
    usageFault?(input: Readonly<Record<string, unknown>>): string | undefined;
    /** Returns what selects the rows. */
    readonly search: (deps: CliDeps, input: Input<F, T>) => S | Promise<S>;
  },
) =>
  readVerb({
    ...verb,
    takes: { ...filterOptions(list.filters), ...takes, limit: limitOption(maximum, usual) },
    async run(deps, input) {
      const { limit, ...searchInput } = input as unknown as Input<F, T> & { readonly limit: number };
      const selection = await search(deps, searchInput as unknown as Input<F, T>);
      const rows = await list.read(deps.orm.em.fork(), selection, { after: null, limit });
      return rows.map((row) => listedRow(list, row));
    },
  });
