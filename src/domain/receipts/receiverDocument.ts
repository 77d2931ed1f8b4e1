import { quoted } from '../values/issue.ts';
import { rutFault } from '../values/rut.ts';

/** The rules for number and country of a kind of document (Formato CFE v25.2, zone A, fields 60 to 62.1). */
interface DocumentRow {
  /** TipoDocRecep. */
  readonly code: number;
  /** Element of the number: DocRecep for Uruguayan documents. */
  readonly element: 'DocRecep' | 'DocRecepExt';
  readonly countries: 'UY' | 'any' | 'any but UY' | readonly string[];
  /** Returns the fault of a number, with words that follow the field; undefined if valid. */
  fault?(number: string): DocumentFault | undefined;
}

/** The fault of a document's number: the code of its rule, and the words after the field. */
export interface DocumentFault {
  readonly code: 'rut.malformed' | 'rut.check_digit' | 'document.ci' | 'document.nie';
  readonly message: string;
}

/** Weights of the first seven digits of a cédula, padded to eight (docs/authority/codes.md#check-digits). */
const CI_WEIGHTS = [2, 9, 8, 7, 6, 3, 4];
const CI_DIGITS = 8;

/** Kinds of document of receivers and customers. */
export const RECEIVER_DOCUMENTS = {
  RUC: { code: 2, element: 'DocRecep', countries: 'UY', fault: rutFault },
  CI: { code: 3, element: 'DocRecep', countries: 'UY', fault: ciFault },
  NIE: { code: 1, element: 'DocRecep', countries: 'UY', fault: nieFault },
  PASSPORT: { code: 5, element: 'DocRecepExt', countries: 'any' },
  DNI: { code: 6, element: 'DocRecepExt', countries: ['AR', 'BR', 'CL', 'PY'] },
  NIFE: { code: 7, element: 'DocRecepExt', countries: 'any but UY' },
  OTHER: { code: 4, element: 'DocRecepExt', countries: 'any' },
} as const satisfies Record<string, DocumentRow>;
export type DocumentType = keyof typeof RECEIVER_DOCUMENTS;
export const DOCUMENT_TYPES = Object.keys(RECEIVER_DOCUMENTS) as [DocumentType, ...DocumentType[]];

const rowOf = (type: DocumentType): DocumentRow => RECEIVER_DOCUMENTS[type];

/** Returns the fault of a document number, or undefined. */
export const documentFault = (type: DocumentType, number: string): DocumentFault | undefined =>
  rowOf(type).fault?.(number);

/** Returns the requirement in words if `country` is wrong for the kind of document; undefined if it is right. */
export function countryFault(type: DocumentType, country: string | undefined): string | undefined {
  const { countries } = rowOf(type);
  if (countries === 'UY') return country === undefined || country === 'UY' ? undefined : 'UY or omitted';
  if (countries === 'any') return country === undefined ? 'a country, or 99,' : undefined;
  if (countries === 'any but UY')
    return country === undefined || country === 'UY' ? 'a country other than UY, or 99,' : undefined;
  return country !== undefined && countries.includes(country) ? undefined : `one of ${countries.join(', ')}`;
}

/** Returns the form in which a document's number is stored, compared and sent: a cédula has eight digits. */
export const comparedNumber = (type: DocumentType, number: string): string =>
  type === 'CI' ? number.padStart(CI_DIGITS, '0') : number;

/** Returns the forms in which a number may be stored, whatever the kind of its document. */
export const soughtNumbers = (number: string): string[] =>
  /^\d{7}$/.test(number) ? [number, comparedNumber('CI', number)] : [number];

function ciFault(number: string): DocumentFault | undefined {
  if (!/^\d{7,8}$/.test(number))
    return {
      code: 'document.ci',
      message: `must be 7 or 8 digits without dots or hyphens, found ${quoted(number)}.`,
    };
  const digits = comparedNumber('CI', number).split('').map(Number);
  const sum = CI_WEIGHTS.reduce((total, weight, index) => total + weight * (digits[index] ?? 0), 0);
  const digit = (10 - (sum % 10)) % 10;
  if (digit === digits.at(-1)) return undefined;
  return {
    code: 'document.ci',
    message: `${number} ends in ${digits.at(-1)}, but its check digit is ${digit}.`,
  };
}

/** The check digit of a NIE is in no document of the authority. */
function nieFault(number: string): DocumentFault | undefined {
  if (/^\d{1,12}$/.test(number)) return undefined;
  return {
    code: 'document.nie',
    message: `must be at most 12 digits without dots or hyphens, found ${quoted(number)}.`,
  };
}
