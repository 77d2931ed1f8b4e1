import type { CfeType } from '../receipts/cfeTypes.ts';
import { CFE_TYPES } from '../receipts/cfeTypes.ts';

/** The range of a CAE that was not granted, for the authority's test environment. */
export interface InventedCae {
  readonly authorizationNumber: string;
  readonly serie: string;
  readonly numberStart: number;
  readonly numberEnd: number;
  readonly expirationDate: string;
}

/**
 * Returns the CAE for the authority's tests in the year of `today` (`YYYY-MM-DD`): number `90aa000xxx0` with the
 * year aa and the type xxx, until the end of the next year (Instructivo Registro de Proveedor Habilitado v06, Pruebas de
 * Simulación). Serie and range are ours.
 */
export function inventedCae(type: CfeType, today: string): InventedCae {
  const year = Number(today.slice(0, 4));
  return {
    authorizationNumber: `90${today.slice(2, 4)}000${CFE_TYPES[type].code}0`,
    serie: 'A',
    numberStart: 1,
    numberEnd: 9_999_999,
    expirationDate: `${year + 1}-12-31`,
  };
}
