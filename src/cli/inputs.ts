/** Arguments and options that several verbs share, and loaders of the objects that they name. */
import type { EntityManager } from '@mikro-orm/postgresql';
import * as z from 'zod';
import { findEnterprise } from '../db/enterprises/enterprises.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import type { Cfe } from '../db/entities/receipts.ts';
import { findCfe } from '../db/receipts/cfes.ts';
import { REASON_LENGTH } from '../domain/operations/supportAction.ts';
import { parseCfeId } from '../domain/receipts/cfeId.ts';
import { ENVIRONMENTS, type Environment } from '../domain/receipts/cfeTypes.ts';
import { dateSchema, spanOfMoment } from '../domain/values/dates.ts';
import { Rut } from '../domain/values/rut.ts';
import { textSchema } from '../domain/values/text.ts';
import { Refusal } from '../errors.ts';
import type { ListFilter, ListFilters } from '../lists/list.ts';

/** An optional input. Default placeholder of an option: the last word of its name. */
export const optionalInput = <S extends z.ZodType>(schema: S, description: string, placeholder?: string) =>
  schema.optional().meta({ description, placeholder });
/** An option without a value. */
export const flagOption = (description: string) => optionalInput(z.literal(true), description);
export const wholeNumberInput = (minimum: number, maximum: number) => z.int().min(minimum).max(maximum);
/** An optional day. */
export const dayOption = (description: string) => optionalInput(dateSchema(), description, 'date');

/** Returns the filters of a list as options; `names` selects some. */
export const filterOptions = <F extends ListFilters, N extends keyof F & string = keyof F & string>(
  filters: F,
  names = Object.keys(filters) as N[],
) =>
  Object.fromEntries(
    names.map((name) => {
      const { schema, only, placeholder } = filters[name] as ListFilter;
      return [name, optionalInput(schema, `only ${only}`, placeholder)];
    }),
  ) as { [K in N]: z.ZodOptional<F[K]['schema']> };

export const AccountIdInput = z.string().describe('id of the account');
export const RutInput = Rut.describe('RUT of the enterprise');
export const rutFilter = (description: string) => optionalInput(Rut, description);
export const EnvironmentInput = z.enum(ENVIRONMENTS).default('production').describe('default: production');
export const environmentFilter = (description: string) => optionalInput(z.enum(ENVIRONMENTS), description);
export const DryRunOption = flagOption('only show what would be done');
export const limitOption = (maximum: number, usual: number) =>
  wholeNumberInput(1, maximum).default(usual).describe(`at most this many; default: ${usual}`);

/** The reason for an operator's action, which the console requires too. */
export const ReasonInput = textSchema(REASON_LENGTH).meta({
  description: 'why; kept in the audit',
  placeholder: 'text',
});
/** A reason that a verb does not require. */
export const OptionalReasonInput = optionalInput(textSchema(REASON_LENGTH), 'why, for the audit', 'text');

const Moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
/** The first moment of a day in Montevideo, or a date and time. @internal exported for tests */
export const Since = z
  .string()
  .refine((typed) => Moment.safeParse(typed).success, {
    params: { expected: 'a date or a date and time, such as 2026-11-20 or 2026-11-20T15:00:00Z' },
  })
  .transform((typed) => spanOfMoment(typed).from);
export const sinceOption = (description: string) => optionalInput(Since, description, 'time');

/** Returns the enterprise with a RUT. Throws NOT_FOUND if there is none. */
export async function requireEnterpriseOfRut(em: EntityManager, rut: string): Promise<Enterprise> {
  const enterprise = await findEnterprise(em, rut);
  if (!enterprise) throw new Refusal('NOT_FOUND', `No enterprise with RUT ${rut} is registered.`);
  return enterprise;
}

/** Returns the CFE with RUT, cfe_id and environment. Throws NOT_FOUND if there is none. */
export async function requireCfeOfRut(
  em: EntityManager,
  { rut = '', cfe_id, environment }: { rut?: string | undefined; cfe_id: string; environment: Environment },
): Promise<Cfe> {
  const parts = parseCfeId(cfe_id);
  const cfe = parts ? await findCfe(em, { rut, environment, ...parts }) : null;
  if (!cfe) throw new Refusal('NOT_FOUND', `The enterprise ${rut} has no CFE ${cfe_id} in ${environment}.`);
  return cfe;
}
