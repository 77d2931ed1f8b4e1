import * as z from 'zod';
import { addIssue } from './issue.ts';

/** Weights of the first eleven digits (docs/authority/codes.md#check-digits). */
const WEIGHTS = [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/** Whether `text` has the form of a RUT: 12 digits, without dots or hyphens. */
function isRutShaped(text: string): boolean {
  return /^[0-9]{12}$/.test(text);
}

/** The check digit for the first eleven digits, or undefined when no digit fits them. */
function rutCheckDigit(rut: string): number | undefined {
  const sum = WEIGHTS.reduce((total, weight, i) => total + weight * Number(rut[i]), 0);
  const digit = 11 - (sum % 11);
  if (digit === 11) return 0;
  return digit === 10 ? undefined : digit;
}

/** What is wrong with a RUT, in words that follow the field's name; undefined if nothing is. */
export function rutFault(
  text: string,
): { code: 'rut.malformed' | 'rut.check_digit'; message: string } | undefined {
  if (!isRutShaped(text)) {
    const found = text.length <= 20 ? JSON.stringify(text) : 'a longer string';
    return {
      code: 'rut.malformed',
      message: `must be 12 digits without dots or hyphens, found ${found}.`,
    };
  }
  const digit = rutCheckDigit(text);
  if (digit === Number(text[11])) return undefined;
  const should = digit === undefined ? 'no check digit fits its first eleven' : `its check digit is ${digit}`;
  return { code: 'rut.check_digit', message: `${text} ends in ${text[11]}, but ${should}.` };
}

/** The schema of a RUT: 12 digits with the right check digit. */
export const Rut = z
  .string()
  .superRefine((value, ctx) => {
    const fault = rutFault(value);
    if (fault) addIssue(ctx, fault.code, fault.message);
  })
  .meta({
    pattern: '^[0-9]{12}$',
    description:
      'Tax id (RUT) of a company: 12 digits without dots or hyphens, the last of them the check digit.',
    examples: ['219000090011'],
  });
