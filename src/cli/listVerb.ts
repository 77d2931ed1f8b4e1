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

/** Rows that are read at once of a list without a limit. */
const PART = 500;

/** Defines a verb that lists the rows of a list: up to `limit`, else all of them. */
export const listVerb = <R, S, F extends ListFilters, T extends z.ZodRawShape>(
  list: List<R, S, Columns<R>, F>,
  {
    takes,
    limit,
    search,
    rows = async (_, read) => read.map((row) => listedRow(list, row)),
    ...verb
  }: {
    readonly summary: string;
    /** Inputs other than the filters of the list. */
    readonly takes?: T;
    /** The largest and the usual number of rows. */
    readonly limit?: readonly [maximum: number, usual: number];
    readonly examples?: readonly string[];
    /** Fields in the table for people, separated by spaces; all by default. */
    readonly columns?: string;
    usageFault?(input: Readonly<Record<string, unknown>>): string | undefined;
    /** Returns what selects the rows. */
    readonly search: (deps: CliDeps, input: Input<F, T>) => S | Promise<S>;
    /** Returns the objects of the rows, if there is more to show of each than the columns. */
    readonly rows?: (deps: CliDeps, rows: readonly R[]) => Promise<readonly OutputRow[]>;
  },
) =>
  readVerb({
    ...verb,
    takes: { ...filterOptions(list.filters), ...takes, ...(limit ? { limit: limitOption(...limit) } : {}) },
    async run(deps, input) {
      const { limit: most, ...selecting } = input as unknown as Input<F, T> & { readonly limit?: number };
      const selected = await search(deps, selecting as unknown as Input<F, T>);
      const all: R[] = [];
      for (;;) {
        const last = all.at(-1);
        const page = { after: last === undefined ? null : list.key.of(last), limit: most ?? PART };
        const part = await list.read(deps.orm.em.fork(), selected, page);
        all.push(...part);
        if (most !== undefined || part.length < PART) return rows(deps, all);
      }
    },
  });
