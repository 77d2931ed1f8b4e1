import Big from 'big.js';
import type { CfeReading, Parts } from './cfeReading.ts';
import { cfeTypeRow } from './cfeTypes.ts';
import type { KnownRate } from './exchangeRate.ts';
import { documentFault } from './receiverDocument.ts';

/** Something in a valid request that is probably a mistake. */
export interface RequestWarning {
  readonly code:
    | 'extra.unknown_key'
    | 'export.defaults'
    | 'totals.exchange_rate_unusual'
    | 'receiver.nife_is_ci';
  /** JSON Pointer of the field. */
  readonly path: string;
  readonly message: string;
}

/** Keys of `extra` whose defaults declare a service sold without Incoterm or carriage. */
const SALE_KEYS = ['sale_condition', 'sale_mode', 'transport'] as const;
/** A rate that differs from the last known rate by more than this share gets a warning. */
const UNUSUAL = Big('0.1');

/**
 * Returns the warnings of a request (docs/contract.md#warnings-of-a-request). `lastRate`: the last rate of its currency
 * known before the emission date.
 */
export function requestWarnings({ parts, extra }: CfeReading, lastRate: KnownRate | null): RequestWarning[] {
  const warnings: RequestWarning[] = Object.keys(extra.unknown).map((key) => ({
    code: 'extra.unknown_key',
    path: `/extra/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    message: `extra.${key}: is not a key of the service; it is stored and has no effect.`,
  }));
  const { cfe_type: type } = parts;
  const isExportSale = type !== undefined && cfeTypeRow(type).saleZone && cfeTypeRow(type).note === null;
  if (isExportSale && SALE_KEYS.every((key) => parts[`extra.${key}`] === undefined))
    warnings.push({
      code: 'export.defaults',
      path: '/extra',
      message: `extra: none of ${SALE_KEYS.join(', ')} is given, so the receipt declares a service (N/A, 90, 8).`,
    });
  return [...warnings, ...unusualRate(parts, lastRate), ...cedulaAsNife(parts)];
}

function unusualRate({ exchange_rate: rate }: Partial<Parts>, last: KnownRate | null): RequestWarning[] {
  if (!last || !rate || rate.minus(last.rate).abs().lte(UNUSUAL.times(last.rate))) return [];
  const message = `header.totals.exchange_rate: differs by more than 10 % from ${Big(last.rate).toFixed()}, the last known rate of ${last.currency}, of ${last.date}, found ${rate.toFixed()}.`;
  return [{ code: 'totals.exchange_rate_unusual', path: '/header/totals/exchange_rate', message }];
}

/** A cédula that is declared as a foreign tax number identifies no person. */
function cedulaAsNife(parts: Partial<Parts>): RequestWarning[] {
  const { cfe_type: type, receiver_doc_type: kind, receiver_document: number } = parts;
  if (type === undefined || cfeTypeRow(type).family !== 'ticket' || kind !== 'NIFE' || number === undefined)
    return [];
  if (documentFault('CI', number.replaceAll(/[.\-\s]/g, ''))) return [];
  const message =
    'header.receiver.receiver_doc_type: the NIFE is also a valid cédula number; for a cédula, use CI.';
  return [{ code: 'receiver.nife_is_ci', path: '/header/receiver/receiver_doc_type', message }];
}
