import * as z from 'zod';
import { addIssue, quoted } from './issue.ts';

/** Weights of the first eleven digits (docs/authority/codes.md#check-digits). */
const WEIGHTS = [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

function isRutShaped(text: string): boolean {
  return /^[0-9]{12}$/.test(text);
}

/** Returns the check digit for the first eleven digits; undefined when no digit fits. */
function rutCheckDigit(rut: string): number | undefined {
  const sum = WEIGHTS.reduce((total, weight, i) => total + weight * Number(rut[i]), 0);
  const digit = 11 - (sum % 11);
  if (digit === 11) return 0;
  return digit === 10 ? undefined : digit;
}

/** Returns the fault of a RUT, with a message that follows the field name; undefined if valid. */
export function rutFault(
  text: string,
): { code: 'rut.malformed' | 'rut.check_digit'; message: string } | undefined {
  if (!isRutShaped(text)) {
    return {
      code: 'rut.malformed',
      message: `must be 12 digits without dots or hyphens, found ${quoted(text)}.`,
    };
  }
  const digit = rutCheckDigit(text);
  if (digit === Number(text[11])) return undefined;
  const expected =
    digit === undefined ? 'no check digit fits its first eleven' : `its check digit is ${digit}`;
  return { code: 'rut.check_digit', message: `${text} ends in ${text[11]}, but ${expected}.` };
}

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
