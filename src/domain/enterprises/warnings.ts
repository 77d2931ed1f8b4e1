/** Warnings before an enterprise can no longer issue (docs/contract.md#warnings). */
import type { CfeType } from '../receipts/cfeTypes.ts';
import { daysBetween } from '../values/montevideo.ts';
import { caeExpiring, caeLow, certificateExpiring, type WebhookEvent } from '../webhooks/webhookEvents.ts';

/** Days over which the use of numbers is averaged. */
export const PACE_DAYS = 28;
/** Numbers that last fewer days are low. */
const FEW_DAYS = 7;
/** Numbers are low below this fraction (a tenth) of the CAEs with numbers left. */
export const FEW_PART = 10;
/** Days before the expiry of a CAE or certificate with a warning; only the nearest one is sent. */
const DAYS_BEFORE = [1, 7, 30] as const;

/** The facts of a CAE for warnings; dates `YYYY-MM-DD` in Montevideo. */
export interface WarnedCae {
  readonly id: string;
  readonly type: CfeType;
  readonly serie: string;
  readonly authorizationNumber: string;
  readonly numberStart: number;
  readonly numberEnd: number;
  readonly numbersLeft: number;
  readonly issueDate: string;
  readonly expirationDate: string;
}

/** The CAEs and the certificate of an enterprise in production. */
export interface WarnedEnterprise {
  readonly rut: string;
  readonly caes: readonly WarnedCae[];
  /** `expirationDate`: in Montevideo. */
  readonly certificate: { readonly id: string; readonly expirationDate: string } | null;
  /** Numbers used in the last PACE_DAYS days, by type. */
  readonly usedLately: ReadonlyMap<CfeType, number>;
}

/** A due warning: the event, and the key `about`, for which one warning is sent. */
interface DueWarning {
  readonly about: string;
  readonly event: WebhookEvent;
}

/** Returns the whole days that `numbers` last at the current pace; null if no numbers were used. */
export function daysLeft(numbers: number, usedLately: number): number | null {
  return usedLately === 0 ? null : Math.floor((numbers * PACE_DAYS) / usedLately);
}

/** Returns every warning that is due on `today`, including those already sent. */
export function dueWarnings(enterprise: WarnedEnterprise, today: string): DueWarning[] {
  return [
    ...lowNumbers(enterprise, today).map((low) => lowWarning(enterprise.rut, low)),
    ...enterprise.caes.flatMap((cae) => caeWarning(enterprise.rut, cae, today) ?? []),
    ...(certificateWarning(enterprise, today) ?? []),
  ];
}

/** True for a warning that may be sent again after its cause has passed. */
export const isRepeatable = (about: string): boolean => about.startsWith(lowNumbersKey(''));

/** The numbers of the valid CAEs of a type. */
export interface TypeNumbers {
  readonly hasValid: boolean;
  readonly left: number;
  /** Total numbers of the CAEs that have numbers left. */
  readonly size: number;
  /** Numbers used in the last PACE_DAYS days. */
  readonly used: number;
}

/** True when the numbers of a type are low or used up; false for a type without valid CAEs and without recent use. */
export function runsLow({ hasValid, left, size, used }: TypeNumbers): boolean {
  if (!hasValid && used === 0) return false;
  const days = daysLeft(left, used);
  return left === 0 || left * FEW_PART < size || (days !== null && days < FEW_DAYS);
}

/** A type with low numbers, the numbers left and the days that they last. */
export interface LowNumbers {
  readonly type: CfeType;
  readonly numbersLeft: number;
  readonly daysLeft: number | null;
}

/** Returns the types of an enterprise with low numbers on `today`. */
export function lowNumbers(
  { caes, usedLately }: Pick<WarnedEnterprise, 'caes' | 'usedLately'>,
  today: string,
): LowNumbers[] {
  const ofTypes = [...Map.groupBy(caes, ({ type }) => type)];
  return ofTypes.flatMap(([type, caesOfType]) => {
    const valid = caesOfType.filter((cae) => cae.issueDate <= today && today <= cae.expirationDate);
    const withNumbers = valid.filter(({ numbersLeft }) => numbersLeft > 0);
    const left = sum(withNumbers.map(({ numbersLeft }) => numbersLeft));
    const size = sum(withNumbers.map(({ numberStart, numberEnd }) => numberEnd - numberStart + 1));
    const used = usedLately.get(type) ?? 0;
    const isLow = runsLow({ hasValid: valid.length > 0, left, size, used });
    return isLow ? [{ type, numbersLeft: left, daysLeft: daysLeft(left, used) }] : [];
  });
}

/** Returns the key of the warning about low numbers of a type. */
export const lowNumbersKey = (type: string): string => `cae.low/${type}`;

const lowWarning = (rut: string, low: LowNumbers): DueWarning => ({
  about: lowNumbersKey(low.type),
  event: caeLow({ rut, ...low }),
});

function caeWarning(rut: string, cae: WarnedCae, today: string): DueWarning | undefined {
  const { numbersLeft } = cae;
  const days = daysBetween(today, cae.expirationDate);
  const before = warningThreshold(days);
  if (before === undefined || numbersLeft === 0) return undefined;
  return {
    about: `cae.expiring/${cae.id}/${before}`,
    event: caeExpiring({ rut, ...cae, daysLeft: days }),
  };
}

function certificateWarning({ rut, certificate }: WarnedEnterprise, today: string): [DueWarning] | undefined {
  if (!certificate) return undefined;
  const { id, expirationDate } = certificate;
  const days = daysBetween(today, expirationDate);
  const before = warningThreshold(days);
  if (before === undefined) return undefined;
  const event = certificateExpiring({ rut, expirationDate, daysLeft: days });
  return [{ about: `certificate.expiring/${id}/${before}`, event }];
}

/** Returns the warning threshold for the days left; undefined if the date is far off or has passed. */
const warningThreshold = (days: number): number | undefined =>
  days < 0 ? undefined : DAYS_BEFORE.find((before) => days <= before);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
