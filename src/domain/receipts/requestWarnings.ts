import type { CfeReading } from './cfeReading.ts';
import { cfeTypeRow } from './cfeTypes.ts';

/** Something in a valid request that is probably a mistake. */
export interface RequestWarning {
  readonly code: 'extra.unknown_key' | 'export.defaults';
  /** JSON Pointer of the field. */
  readonly path: string;
  readonly message: string;
}

/** Keys of `extra` whose defaults declare a service sold without Incoterm or carriage. */
const SALE_KEYS = ['sale_condition', 'sale_mode', 'transport'] as const;

/** Returns the warnings of a request (docs/contract.md#validating-only). */
export function requestWarnings({ parts, extra }: CfeReading): RequestWarning[] {
  const warnings: RequestWarning[] = Object.keys(extra.others).map((key) => ({
    code: 'extra.unknown_key',
    path: `/extra/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    message: `extra.${key}: is not a key of the service; it is stored and has no effect.`,
  }));
  const { cfe_type: type } = parts;
  const abroad = type !== undefined && cfeTypeRow(type).saleZone && cfeTypeRow(type).note === null;
  if (abroad && SALE_KEYS.every((key) => parts[`extra.${key}`] === undefined))
    warnings.push({
      code: 'export.defaults',
      path: '/extra',
      message: `extra: none of ${SALE_KEYS.join(', ')} is given, so the receipt declares a service (N/A, 90, 8).`,
    });
  return warnings;
}
