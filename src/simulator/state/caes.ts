import type { EnvironmentName } from '../environments.ts';
import type { State } from './database.ts';

/** A numbering authorization as the authority has it (cfe-format.md §5). Dates are `YYYY-MM-DD`. */
export interface Cae {
  readonly authorization_number: string;
  readonly environment: EnvironmentName;
  readonly rut: string;
  readonly cfe_type: string;
  readonly series: string;
  readonly number_start: number;
  readonly number_end: number;
  readonly issue_date: string;
  readonly expiration_date: string;
  /** E electronic; F contingency, G dispatch, H transition are on paper and fit no CFE (E13). */
  readonly kind: string;
  readonly special: string | null;
  readonly special_cause: string | null;
}

/** Keeps a new CAE with the file that was given out. */
export function addCae(state: State, cae: Cae, xml: string): void {
  state
    .prepare('insert into caes values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    .run(
      cae.authorization_number,
      cae.environment,
      cae.rut,
      cae.cfe_type,
      cae.series,
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

/** The CAE of that number, undefined when none was given out in the environment. */
export const findCae = (
  state: State,
  environment: EnvironmentName,
  authorizationNumber: string,
): Cae | undefined =>
  state
    .prepare('select * from caes where environment = ? and authorization_number = ?')
    .get(environment, authorizationNumber) as Cae | undefined;

/** The first number behind all CAEs of that issuer, type and series. */
export function firstFreeNumber(
  state: State,
  of: Pick<Cae, 'environment' | 'rut' | 'cfe_type' | 'series'>,
): number {
  const row = state
    .prepare(
      'select max(number_end) as last from caes where environment = ? and rut = ? and cfe_type = ? and series = ?',
    )
    .get(of.environment, of.rut, of.cfe_type, of.series);
  return Number(row?.['last'] ?? 0) + 1;
}
