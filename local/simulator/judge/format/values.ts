import { momentOf } from '../../clock.ts';
import { COUNTRIES, CURRENCIES } from './lists.ts';

/** Checks the text of a leaf element: '' when it fits, otherwise what it should be (Spanish, for Detalle). */
export type ValueCheck = (text: string) => string;

/** Text of at most `max` characters (code points), not blank where `filled`. */
export const text =
  (max: number, kind: 'filled' | 'free' = 'free'): ValueCheck =>
  (value) => {
    if (Array.from(value).length > max) return `más de ${max} caracteres`;
    return kind === 'filled' && value.trim() === '' ? 'no puede estar vacío' : '';
  };

/** Text that matches a pattern. */
export const like =
  (pattern: RegExp, expected: string): ValueCheck =>
  (value) =>
    pattern.test(value) ? '' : `debe ser ${expected}`;

/** An unsigned integer in a range. */
export const whole =
  (min: number, max: number): ValueCheck =>
  (value) =>
    /^\d{1,12}$/.test(value) && Number(value) >= min && Number(value) <= max
      ? ''
      : `debe ser un entero de ${min} a ${max}`;

/** One of a list of codes, compared as written. */
export const oneOf = (...codes: readonly (string | number)[]): ValueCheck => {
  const known = new Set(codes.map(String));
  return (value) => (known.has(value) ? '' : 'no es un valor de la tabla');
};

/** A decimal number of at most so many digits before and after the point, with a sign if `signed`. */
const decimal = (before: number, behind: number, sign: 'signed' | 'unsigned' = 'unsigned'): ValueCheck => {
  const pattern = new RegExp(`^${sign === 'signed' ? '-?' : ''}\\d{1,${before}}(\\.\\d{1,${behind}})?$`);
  return (value) =>
    pattern.test(value) ? '' : `debe ser un número de hasta ${before} enteros y ${behind} decimales`;
};

/** A day that exists, between two days (ends included). */
export const day =
  (min: string): ValueCheck =>
  (value) => {
    const exists = /^\d{4}-\d\d-\d\d$/.test(value) && momentOf(value)?.toISOString().slice(0, 10) === value;
    return exists && value >= min && value <= LAST_DAY ? '' : `debe ser una fecha de ${min} a ${LAST_DAY}`;
  };

/** A moment with its offset, from the beginning of e-invoicing on. */
export const moment: ValueCheck = (value) => {
  const read = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value)
    ? momentOf(value)
    : null;
  const inside =
    read !== null &&
    read >= new Date('2011-10-01T00:00:00-03:00') &&
    read <= new Date('2050-12-31T23:59:59-03:00');
  return inside ? '' : 'debe ser AAAA-MM-DDTHH:MM:SS con huso, desde 2011-10-01';
};

const LAST_DAY = '2050-12-31';

export const FIRST_DAY = '2011-10-01';
/** Amounts of 15 digits and 2 decimals (MontoType, Monto_admite_negType). */
export const amount = decimal(15, 2);
export const signedAmount = decimal(15, 2, 'signed');
export const quantity = decimal(14, 3, 'signed');
export const price = decimal(11, 6);
export const percent = decimal(3, 3, 'signed');
/** An exchange rate to pesos: above zero, 4 digits and 3 decimals. */
export const exchangeRate: ValueCheck = (value) =>
  decimal(4, 3)(value) || (/[1-9]/.test(value) ? '' : 'debe ser mayor que cero');
/** 10 or 22, with up to three decimal zeros. */
export const vatRate = like(/^(10|22)(\.0{1,3})?$/, '10.000 o 22.000');
export const serie = like(/^([A-Z]{1,2}|[1-9][A-Z])$/, 'una o dos letras mayúsculas, o dígito y letra');
export const ruc = like(/^\d{12}$/, '12 dígitos');
export const currency = oneOf(...CURRENCIES);
export const country = oneOf(...COUNTRIES);
