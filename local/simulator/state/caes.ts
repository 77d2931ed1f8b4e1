import type { EnvironmentName } from '../environments.ts';
import type { State } from './database.ts';

/** E electronic; F contingency, G dispatch, H transition are on paper and fit no CFE (E13). */
export const CAE_KINDS = ['E', 'F', 'G', 'H'] as const;
/** Values of CAEEspecial. */
export const CAE_SPECIALS = ['1', '2', '3', '4'] as const;

/** A numbering authorization as the authority has it (docs/authority/caes.md#file). Dates are `YYYY-MM-DD`. */
export interface Cae {
  readonly authorization_number: string;
  readonly environment: EnvironmentName;
  readonly rut: string;
  readonly cfe_type: string;
  readonly serie: string;
  readonly number_start: number;
  readonly number_end: number;
  readonly issue_date: string;
  readonly expiration_date: string;
  readonly kind: (typeof CAE_KINDS)[number];
  readonly special: (typeof CAE_SPECIALS)[number] | null;
  readonly special_cause: string | null;
}

/** Stores a new CAE with the file that was issued. */
export function addCae(state: State, cae: Cae, xml: string): void {
  state
    .prepare('insert into caes values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(
      cae.authorization_number,
      cae.environment,
      cae.rut,
      cae.cfe_type,
      cae.serie,
      cae.number_start,
      cae.number_end,
      cae.issue_date,
      cae.expiration_date,
      cae.kind,
      cae.special,
      cae.special_cause,
      xml,
    );
}

/** The CAE of that number; undefined when none was issued in the environment. */
export const findCae = (
  state: State,
  environment: EnvironmentName,
  authorizationNumber: string,
): Cae | undefined =>
  state
    .prepare('select *, series as serie from caes where environment = ? and authorization_number = ?')
    .get(environment, authorizationNumber) as Cae | undefined;

/** The numbers that an issuer may use for a type: those of its electronic CAEs, expired ones too. */
export const rangesOfCaes = (
  state: State,
  { environment, rut, cfeType }: { environment: EnvironmentName; rut: string; cfeType: string },
): { serie: string; from: number; to: number }[] =>
  state
    .prepare(
      `select series as serie, number_start as "from", number_end as "to" from caes
       where environment = ? and rut = ? and cfe_type = ? and kind = 'E'`,
    )
    .all(environment, rut, cfeType) as { serie: string; from: number; to: number }[];

/** The first number after all CAEs of that issuer, type and serie. */
export function firstFreeNumber(
  state: State,
  { environment, rut, cfe_type, serie }: Pick<Cae, 'environment' | 'rut' | 'cfe_type' | 'serie'>,
): number {
  const row = state
    .prepare(
      'select max(number_end) as last from caes where environment = ? and rut = ? and cfe_type = ? and series = ?',
    )
    .get(environment, rut, cfe_type, serie);
  return Number(row?.['last'] ?? 0) + 1;
}
