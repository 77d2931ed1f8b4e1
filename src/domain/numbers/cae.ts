import type { Fault } from '../../errors.ts';
import { CFE_TYPES, type CfeType, cfeTypeOfCode, type IvaType } from '../receipts/cfeTypes.ts';
import { faultAt } from '../requests/faults.ts';
import { quoted } from '../values/issue.ts';
import { daysBetween, isDate } from '../values/montevideo.ts';
import { type CaeRule, caeFault } from './caeRules.ts';

export type CaeStatus = 'OK' | 'EXPIRED';

/** Returns the status of a CAE on `today` (Montevideo), by date only: an exhausted CAE stays OK. */
export function caeStatus(cae: { readonly expirationDate: string }, today: string): CaeStatus {
  return today <= cae.expirationDate ? 'OK' : 'EXPIRED';
}

/** The facts that decide which CAE gives the next number. */
export interface NumberRange {
  readonly numberStart: number;
  readonly numberEnd: number;
  /** The number of unused numbers. */
  readonly numbersLeft: number;
  readonly issueDate: string;
  readonly expirationDate: string;
}

/**
 * Returns the CAE for the next number on `today` among the CAEs of one type: valid, with numbers left, expiring first,
 * then with the lowest numbers. Undefined if there is no such CAE.
 */
export function chooseCae<T extends NumberRange>(caes: readonly T[], today: string): T | undefined {
  return caes
    .filter((cae) => cae.issueDate <= today && caeStatus(cae, today) === 'OK' && cae.numbersLeft > 0)
    .toSorted((a, b) => compare(a.expirationDate, b.expirationDate) || a.numberStart - b.numberStart)[0];
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** Creates the fault of issuing when no CAE of the type has a number left. */
export function noNumbersLeftFault(type: CfeType): Fault {
  return caeFault('cae.none_left', `No CAE of type ${type} is valid and has numbers left; upload one.`);
}

/** CAEEspecial: exempt taxpayer, IVA mínimo, Monotributo, Monotributo Social MIDES (docs/authority/caes.md#special-kinds). */
export const SPECIAL_KINDS = [1, 2, 3, 4] as const;
export type SpecialKind = (typeof SPECIAL_KINDS)[number];
const EXEMPT_TAXPAYER = 1;

/** True for the special kinds of taxpayers who pay no VAT on their sales: IVA mínimo and both Monotributos. */
export const isSmallTaxpayer = (kind: number | null | undefined): boolean =>
  kind === 2 || kind === 3 || kind === 4;

/** Kinds of line that the CAE of an exempt taxpayer forbids. */
const TAXED: readonly IvaType[] = ['MINIMUM_RATE', 'BASIC_RATE', 'OTHER_RATE', 'PERCEIVED', 'SUSPENDED'];

/** Returns the faults of lines that the special kind of the CAE forbids. */
export function specialKindFaults(specialKind: number | null, lines: readonly IvaType[]): Fault[] {
  const [code, words] =
    specialKind === EXEMPT_TAXPAYER
      ? ([
          'line.exempt_taxpayer',
          'must not have VAT, because the CAE belongs to an exempt taxpayer',
        ] as const)
      : ([
          'line.small_taxpayer',
          'must be EXEMPT, FREE, EXPORT or not billable, because the CAE belongs to a small taxpayer',
        ] as const);
  if (specialKind !== EXEMPT_TAXPAYER && !isSmallTaxpayer(specialKind)) return [];
  return lines.flatMap((ivaType, index) =>
    TAXED.includes(ivaType)
      ? [faultAt(['details', index, 'iva_type'], code, `${words}, found ${ivaType}.`)]
      : [],
  );
}

/** The content of a CAE file; dates `YYYY-MM-DD`. */
export interface CaeFacts {
  readonly issuerRut: string;
  readonly typeCode: number;
  readonly serie: string;
  readonly numberStart: number;
  readonly numberEnd: number;
  readonly authorizationNumber: string;
  readonly issueDate: string;
  readonly expirationDate: string;
  /** TA: E for electronic receipts; missing in older files of the authority. */
  readonly use?: string | undefined;
  /** CAEEspecial and CausalCAEEsp. */
  readonly special?: { readonly kind: number; readonly cause?: string | undefined } | undefined;
}

/** A range that the enterprise already has in the environment. */
interface StoredRange {
  readonly type: CfeType;
  readonly serie: string;
  readonly numberStart: number;
  readonly numberEnd: number;
  readonly authorizationNumber: string;
}

/** The facts that an uploaded CAE is checked against. */
export interface CaeContext {
  /** The enterprise. */
  readonly rut: string;
  /** `cae_start_number` of the body. */
  readonly startNumber: number;
  /** Today in Montevideo. */
  readonly today: string;
  readonly storedRanges: readonly StoredRange[];
}

const LAST_NUMBER = 9_999_999;
/** SerieType of the XSD: one or two capitals, or a digit and a capital. */
const SERIE = /^([A-Z]|[A-Z][A-Z]|[1-9][A-Z])$/;
/** CAE_ID: up to eleven digits. */
const AUTHORIZATION_NUMBER = /^[0-9]{1,11}$/;
/** CausalCAEEsp: up to three digits. */
const SPECIAL_CAUSE = /^[0-9]{1,3}$/;

/** Returns all faults of a CAE except those of its signature; empty if it may be stored. */
export function caeFaults(cae: CaeFacts, context: CaeContext): Fault[] {
  return [...contentFaults(cae, context), ...dateFaults(cae, context.today), ...rangeFaults(cae, context)];
}

function contentFaults(cae: CaeFacts, { rut }: CaeContext): Fault[] {
  const faults: Fault[] = [];
  const add = (code: CaeRule, message: string) => faults.push(caeFault(code, message));
  if (cae.issuerRut !== rut)
    add('cae.other_rut', `The CAE must be for RUT ${rut}, found ${brief(cae.issuerRut)}.`);
  if (cfeTypeOfCode(cae.typeCode) === undefined) {
    const codes = Object.values(CFE_TYPES)
      .map(({ code }) => code)
      .join(', ');
    add('cae.type', `The CAE must be for one of the types ${codes}, found ${cae.typeCode}.`);
  }
  if (!SERIE.test(cae.serie)) {
    add(
      'cae.series',
      `The serie must be one or two capital letters, or a digit and a capital letter, found ${brief(cae.serie)}.`,
    );
  }
  if (!AUTHORIZATION_NUMBER.test(cae.authorizationNumber)) {
    add(
      'cae.authorization_number',
      `The authorization number must have up to 11 digits, found ${brief(cae.authorizationNumber)}.`,
    );
  }
  if (cae.use !== undefined && cae.use !== 'E') {
    add('cae.not_electronic', `The CAE must be for electronic receipts (E), found ${brief(cae.use)}.`);
  }
  return [...faults, ...specialFaults(cae)];
}

function specialFaults({ special }: CaeFacts): Fault[] {
  if (special === undefined) return [];
  if (!SPECIAL_KINDS.some((kind) => kind === special.kind)) {
    const message = `The special kind of the CAE must be 1 to 4, found ${special.kind}.`;
    return [caeFault('cae.special', message)];
  }
  if (special.kind !== EXEMPT_TAXPAYER) return [];
  if (special.cause !== undefined && SPECIAL_CAUSE.test(special.cause)) return [];
  const found = special.cause === undefined ? 'none' : brief(special.cause);
  return [
    caeFault(
      'cae.special_cause',
      `A CAE of special kind 1 must name its cause in up to 3 digits, found ${found}.`,
    ),
  ];
}

function dateFaults(cae: CaeFacts, today: string): Fault[] {
  const { issueDate, expirationDate } = cae;
  if (!isDate(issueDate) || !isDate(expirationDate) || daysBetween(issueDate, expirationDate) < 0) {
    const message = `The CAE must expire on or after its issue date, found ${brief(issueDate)} to ${brief(expirationDate)}.`;
    return [caeFault('cae.dates', message)];
  }
  if (expirationDate < today)
    return [caeFault('cae.expired', `The CAE expired on ${expirationDate}; today is ${today}.`)];
  if (issueDate <= today) return [];
  return [caeFault('cae.not_yet_valid', `The CAE is valid only from ${issueDate}; today is ${today}.`)];
}

function rangeFaults(cae: CaeFacts, { startNumber, storedRanges }: CaeContext): Fault[] {
  const { numberStart: first, numberEnd: last } = cae;
  const areIntegers = Number.isInteger(first) && Number.isInteger(last);
  if (!areIntegers || first < 1 || last > LAST_NUMBER || first > last) {
    const message = `The range must lie between 1 and ${LAST_NUMBER} and must not be empty, found ${first} to ${last}.`;
    return [caeFault('cae.range', message)];
  }
  const faults: Fault[] = [];
  if (startNumber < first || startNumber > last) {
    const message = `cae_start_number must lie within the range of the CAE, ${first} to ${last}, found ${startNumber}.`;
    faults.push(caeFault('cae.start_out_of_range', message));
  }
  const known = storedRanges.find((range) => range.authorizationNumber === cae.authorizationNumber);
  if (known) {
    const message = `The enterprise already has the CAE ${brief(cae.authorizationNumber)}.`;
    return [...faults, caeFault('cae.known', message)];
  }
  const type = cfeTypeOfCode(cae.typeCode);
  const overlap = storedRanges.find(
    (range) =>
      range.type === type &&
      range.serie === cae.serie &&
      range.numberStart <= last &&
      first <= range.numberEnd,
  );
  if (overlap) {
    const found = `CAE ${overlap.authorizationNumber} (${overlap.numberStart} to ${overlap.numberEnd})`;
    faults.push(
      caeFault('cae.overlap', `The range ${first} to ${last} overlaps ${found} of the same type and serie.`),
    );
  }
  return faults;
}

const brief = (value: string) => quoted(value, 40);
