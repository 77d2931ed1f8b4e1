import Big from 'big.js';
import { formatCfeId, parseCfeId } from '../cfeId.ts';
import type { RequestReference } from '../cfeRequest.ts';
import { type CfeType, cfeTypeOfCode, cfeTypeRow } from '../cfeTypes.ts';

/** Amount, currency and rate of a CFE that another system issued; the rate of pesos is 1. */
export interface ReferredValue {
  readonly amount: Big;
  readonly currency: 'UYU' | 'USD' | 'EUR';
  readonly exchangeRate: Big;
}

interface Row {
  /** Path of the reference in the request. */
  readonly at: readonly (string | number)[];
  readonly reason?: string | undefined;
}

/** A CFE of this service. */
export interface KnownReference extends Row {
  readonly kind: 'known';
  readonly cfeId: string;
  readonly type: CfeType;
  readonly amount?: Big | undefined;
}

/** A CFE that the company issued with another system. */
export interface ForeignReference extends Row {
  readonly kind: 'foreign';
  readonly typeCode: number;
  readonly serie: string;
  readonly numero: number;
  readonly emissionDate: string;
  readonly value?: ReferredValue | undefined;
}

/** A document that is not a CFE. */
export interface OtherReference extends Row {
  readonly kind: 'other';
  readonly reason: string;
}

/** A reference of a valid shape. */
export type Referred = KnownReference | ForeignReference | OtherReference;

/** A fault in the shape of a reference: the field, and the words after its name. */
export interface ShapeFault {
  readonly code: keyof typeof SHAPE_FAULTS;
  readonly field?: keyof RequestReference;
  readonly words: string;
}

/** The rules on the shape of a reference, by code: what they check, and an example. */
export const SHAPE_FAULTS = {
  'references.shape': {
    checks:
      'A reference has cfe_id, or cfe_type_code with the data of another system’s CFE, or description alone.',
    example:
      'references[0]: must have exactly one of cfe_id, cfe_type_code and description, found cfe_id, description.',
  },
  'references.amount_required': {
    checks: 'Another system’s CFE has amount and currency, unless of type 181, 182 or 124.',
    example: 'references[0].amount: is required with cfe_type_code 111.',
  },
  'references.amount_forbidden': {
    checks: 'A CFE of type 181, 182 or 124 has no amount, no currency and no exchange_rate.',
    example: 'references[0].amount: must be omitted with cfe_type_code 181.',
  },
  'references.exchange_rate': {
    checks: 'A CFE of another system has an exchange_rate above 0, in UYU none.',
    example: 'references[0].exchange_rate: must be omitted for UYU.',
  },
} as const;

/** Types without an amount to pay: e-Remito, e-Resguardo, e-Remito de Exportación. */
const WITHOUT_AMOUNT: readonly string[] = ['181', '182', '124', '281', '282', '224'];

const FOREIGN_FIELDS = ['serie', 'numero', 'emission_date'] as const;
const VALUE_FIELDS = ['amount', 'currency', 'exchange_rate'] as const;
/** The other fields of each shape, by the field that decides the shape. */
const FIELDS = {
  cfe_id: ['amount', 'reason'],
  cfe_type_code: [...FOREIGN_FIELDS, ...VALUE_FIELDS, 'reason'],
  description: [],
} as const satisfies Partial<Record<keyof RequestReference, readonly (keyof RequestReference)[]>>;
const SHAPES = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** Returns the faults in the shape of a reference. */
export function shapeFaults(row: RequestReference): ShapeFault[] {
  const shapes = SHAPES.filter((name) => row[name] !== undefined);
  const [shape] = shapes;
  if (shape === undefined || shapes.length > 1) {
    const found = shapes.length === 0 ? 'none' : shapes.join(', ');
    const words = `must have exactly one of ${SHAPES.join(', ').replace(/, (?=\w+$)/, ' and ')}, found ${found}.`;
    return [{ code: 'references.shape', words }];
  }
  const allowed: readonly string[] = [shape, ...FIELDS[shape]];
  const present = (Object.keys(row) as (keyof RequestReference)[]).filter((name) => row[name] !== undefined);
  const unexpected = present
    .filter((name) => !allowed.includes(name))
    .map(
      (field): ShapeFault => ({ code: 'references.shape', field, words: `must be omitted with ${shape}.` }),
    );
  if (shape !== 'cfe_type_code') return unexpected;
  const missing = FOREIGN_FIELDS.filter((name) => row[name] === undefined);
  return [
    ...missing.map(
      (field): ShapeFault => ({ code: 'references.shape', field, words: 'is required with cfe_type_code.' }),
    ),
    ...valueFaults(row),
  ];
}

function valueFaults(row: RequestReference): ShapeFault[] {
  const { cfe_type_code: code = '', currency, exchange_rate: rate } = row;
  if (WITHOUT_AMOUNT.includes(code)) {
    return VALUE_FIELDS.filter((name) => row[name] !== undefined).map((field) => ({
      code: 'references.amount_forbidden',
      field,
      words: `must be omitted with cfe_type_code ${code}.`,
    }));
  }
  const missing = (['amount', 'currency'] as const).filter((name) => row[name] === undefined);
  const faults = missing.map(
    (field): ShapeFault => ({
      code: 'references.amount_required',
      field,
      words: `is required with cfe_type_code ${code}.`,
    }),
  );
  if (currency === undefined) return faults;
  const withRateFault = (words: string): ShapeFault[] => [
    ...faults,
    { code: 'references.exchange_rate', field: 'exchange_rate', words },
  ];
  if (currency === 'UYU') return rate === undefined ? faults : withRateFault('must be omitted for UYU.');
  if (rate === undefined) return withRateFault(`is required for ${currency}.`);
  return rate.gt(0) ? faults : withRateFault(`must be above 0 for ${currency}, found 0.`);
}

/** Reads a reference; undefined if its shape has a fault. */
export function readReference(row: RequestReference, at: Row['at']): Referred | undefined {
  if (shapeFaults(row).length > 0) return undefined;
  const { cfe_id, cfe_type_code, serie, numero, emission_date, amount, currency, reason, description } = row;
  if (description !== undefined) return { kind: 'other', at, reason: description };
  if (cfe_id !== undefined) {
    const parts = parseCfeId(cfe_id);
    return parts && { kind: 'known', at, cfeId: formatCfeId(parts), type: parts.type, amount, reason };
  }
  if (!cfe_type_code || serie === undefined || numero === undefined || emission_date === undefined)
    return undefined;
  const value = amount && currency && { amount, currency, exchangeRate: row.exchange_rate ?? Big(1) };
  return {
    kind: 'foreign',
    at,
    typeCode: Number(cfe_type_code),
    serie,
    numero,
    emissionDate: emission_date,
    value,
    reason,
  };
}

/** Names a CFE by the identification printed on it: equal for two references to the same CFE. */
export const printedName = ({
  typeCode,
  serie,
  numero,
}: Pick<ForeignReference, 'typeCode' | 'serie' | 'numero'>): string => `${typeCode} ${serie} ${numero}`;

/** Returns whether two types are of one family: e-Tickets, e-Facturas, or exports. */
export const sameFamily = (a: CfeType, b: CfeType): boolean => cfeTypeRow(a).family === cfeTypeRow(b).family;

/** Returns the type of a foreign reference, to look it up among our CFEs; undefined for types not issued here. */
export const ownTypeOf = ({ typeCode }: ForeignReference): CfeType | undefined => cfeTypeOfCode(typeCode);
