import { dayInMontevideo, daysAfter } from '../../clock.ts';
import type { ParsedReceipt, Zone } from '../reading.ts';
import { EMISSION_DAYS_AHEAD } from './constants.ts';

/** What the authority has on record of a receipt that another refers to. */
export interface Original {
  /** FchEmis; null where it could not be read. */
  readonly issuedOn: string | null;
  readonly amountPayable: string | null;
  readonly currency: string | null;
  readonly exchangeRate: string | null;
}

/** Looks a referenced receipt up by type, serie and number of the same issuer; null when it is not in the records. */
export type FindOriginal = (cfeType: string, serie: string, number: number) => Original | null;

const FORBIDDEN_IF_GLOBAL = [
  'TpoDocRef',
  'Serie',
  'NroCFERef',
  'MntCFEref',
  'TpoMonedaRef',
  'TpoCambioRef',
] as const;

/** Faults of zone F, E05 or, for a receipt that is not in the records, E12 (Formato CFE v25.2, zone F). */
export function* faultsOfReferences(
  receipt: ParsedReceipt,
  find: FindOriginal,
  now: Date,
): Generator<{ readonly code: 'E05' | 'E12'; readonly detail: string }> {
  const { references } = receipt;
  if (receipt.isNote && references.length === 0) yield format(`F: zona obligatoria en ${receipt.type}`);
  const named = new Set<string>();
  for (const [index, row] of references.entries()) {
    const at = `F línea ${index + 1}`;
    if (Number(row.text('NroLinRef')) !== index + 1) yield format(`${at}: NroLinRef debe ser ${index + 1}`);
    if ((row.text('FechaCFEref') ?? '') > daysAfter(dayInMontevideo(now), EMISSION_DAYS_AHEAD))
      yield format(`${at}: FechaCFEref posterior en más de ${EMISSION_DAYS_AHEAD} días a la fecha de DGI`);
    if (row.has('IndGlobal')) {
      for (const name of FORBIDDEN_IF_GLOBAL)
        if (row.has(name)) yield format(`${at}: ${name} no va con IndGlobal`);
      if (!row.has('RazonRef')) yield format(`${at}: RazonRef es obligatorio con IndGlobal`);
      continue;
    }
    const [type, serie, number] = [row.text('TpoDocRef'), row.text('Serie'), row.text('NroCFERef')];
    if (type === undefined || serie === undefined || number === undefined) {
      yield format(`${at}: faltan TpoDocRef, Serie o NroCFERef`);
      continue;
    }
    const key = `${type} ${serie} ${Number(number)}`;
    if (named.has(key)) yield format(`${at}: ${key} ya está referido`);
    named.add(key);
    const original = find(type, serie, Number(number));
    if (original) yield* faultsAgainst(original, row, at);
    else yield { code: 'E12', detail: `${at}: ${key} no existe en los registros` };
  }
}

function* faultsAgainst(original: Original, row: Zone, at: string): Generator<ReturnType<typeof format>> {
  const issuedOn = row.text('FechaCFEref');
  if (issuedOn !== undefined && original.issuedOn !== null && issuedOn !== original.issuedOn)
    yield format(`${at}: FechaCFEref no es la fecha del comprobante referido`);
  const currency = row.text('TpoMonedaRef');
  if (currency !== undefined && original.currency !== null && currency !== original.currency)
    yield format(`${at}: TpoMonedaRef no es la moneda del comprobante referido`);
  if (currency !== undefined && currency !== 'UYU' && !row.has('TpoCambioRef'))
    yield format(`${at}: TpoCambioRef es obligatorio si la moneda no es UYU`);
  if (
    row.has('TpoCambioRef') &&
    original.exchangeRate !== null &&
    !row.amount('TpoCambioRef').eq(original.exchangeRate)
  )
    yield format(`${at}: TpoCambioRef no es el del comprobante referido`);
  // MntPagar may be below zero, or 0 instead (A-C130): either way 0 may be adjusted.
  const adjusted = row.amount('MntCFEref');
  if (adjusted.gt(0) && original.amountPayable !== null && adjusted.gt(original.amountPayable))
    yield format(`${at}: MntCFEref supera el total a pagar del comprobante referido`);
}

const format = (detail: string) => ({ code: 'E05', detail }) as const;
