/** Lists: their filters, declared once for API, command line and console. */
import * as z from 'zod';
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

/** The filters that a query offers: the name of each in the query, and its name in the list. */
type Names<F extends ListFilters> = Readonly<Record<string, keyof F & string>>;
type Schemas<F extends ListFilters, N extends Names<F>> = {
  readonly [Q in keyof N]: z.ZodOptional<F[N[Q]]['schema']>;
};

/** Returns the schemas of these filters by their names in a query, and a function that reads their values from it. */
export function nameFilters<F extends ListFilters, const N extends Names<F>>(filters: F, names: N) {
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

/** A RUT as people type it: points, hyphens and spaces of printed ones do not matter. */
export const SoughtRut = z
  .string()
  .max(40)
  .transform((typed) => typed.replaceAll(/[\s.-]/g, ''))
  .pipe(Rut);
