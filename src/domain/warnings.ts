/** The warnings before an enterprise can no longer issue (docs/contract.md#warnings): which are due, judged without a clock. */
import type { CfeType } from './cfeTypes.ts';
import { daysBetween } from './montevideo.ts';
import { caeExpiring, caeLow, certificateExpiring, type WebhookEvent } from './webhookEvents.ts';

/** How far back we look for the pace at which numbers are used, in days. */
export const PACE_DAYS = 28;
/** Fewer days than this at that pace are few. */
const FEW_DAYS = 7;
/** Fewer numbers than this part of the CAEs that have any are few: a tenth. */
export const FEW_PART = 10;
/** How many days before its date a paper is warned of; the nearest that has come counts. */
const DAYS_BEFORE = [1, 7, 30] as const;

/** A range of numbers, as far as warnings look at it; dates `YYYY-MM-DD` in Montevideo. */
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

/** What an enterprise has in production. */
export interface WarnedEnterprise {
  readonly rut: string;
  readonly caes: readonly WarnedCae[];
  /** Its last day is a date in Montevideo. */
  readonly certificate: { readonly id: string; readonly expirationDate: string } | null;
  /** How many numbers of each type were used in the last PACE_DAYS days. */
  readonly usedLately: ReadonlyMap<CfeType, number>;
}

/** A warning that is due: what it is about, which is given once, and the event that gives it. */
interface DueWarning {
  readonly about: string;
  readonly event: WebhookEvent;
}

/** For how many whole days `numbers` last at the pace of the last PACE_DAYS days; null when none were used. */
export function daysLeft(numbers: number, usedLately: number): number | null {
  return usedLately === 0 ? null : Math.floor((numbers * PACE_DAYS) / usedLately);
}

/** Every warning that is due on `today`, given already or not. */
export function dueWarnings(enterprise: WarnedEnterprise, today: string): DueWarning[] {
  return [
    ...lowNumbers(enterprise, today).map((low) => lowWarning(enterprise.rut, low)),
    ...enterprise.caes.flatMap((cae) => caeWarning(enterprise.rut, cae, today) ?? []),
    ...(certificateWarning(enterprise, today) ?? []),
  ];
}

/** Whether `about` is a warning that may be given again, once what it was about has passed. */
export const isRepeatable = (about: string): boolean => about.startsWith(lowNumbersKey(''));

/** What the CAEs of a type that are valid today still give. */
export interface TypeNumbers {
  readonly hasValid: boolean;
  readonly left: number;
  /** How many numbers those had in all that have any left. */
  readonly size: number;
  /** How many were used in the last PACE_DAYS days. */
  readonly used: number;
}

/** Whether the numbers of a type run low: few days, few numbers, or none. Of a type of which nothing is valid and nothing was used they do not. */
export function runsLow({ hasValid, left, size, used }: TypeNumbers): boolean {
  if (!hasValid && used === 0) return false;
  const days = daysLeft(left, used);
  return left === 0 || left * FEW_PART < size || (days !== null && days < FEW_DAYS);
}

/** A type whose numbers run low, with how many it has left and how many days these last. */
export interface LowNumbers {
  readonly type: CfeType;
  readonly numbersLeft: number;
  readonly daysLeft: number | null;
}

/** The types of an enterprise whose numbers run low on `today`. */
export function lowNumbers(
  { caes, usedLately }: Pick<WarnedEnterprise, 'caes' | 'usedLately'>,
  today: string,
): LowNumbers[] {
  const ofTypes = [...Map.groupBy(caes, ({ type }) => type)];
  return ofTypes.flatMap(([type, all]) => {
    const valid = all.filter((cae) => cae.issueDate <= today && today <= cae.expirationDate);
    const withNumbers = valid.filter(({ numbersLeft }) => numbersLeft > 0);
    const left = sum(withNumbers.map(({ numbersLeft }) => numbersLeft));
    const size = sum(withNumbers.map(({ numberStart, numberEnd }) => numberEnd - numberStart + 1));
    const used = usedLately.get(type) ?? 0;
    const isLow = runsLow({ hasValid: valid.length > 0, left, size, used });
    return isLow ? [{ type, numbersLeft: left, daysLeft: daysLeft(left, used) }] : [];
  });
}

/** What the warning that the numbers of a type run low is about. */
export const lowNumbersKey = (type: string): string => `cae.low/${type}`;

const lowWarning = (rut: string, low: LowNumbers): DueWarning => ({
  about: lowNumbersKey(low.type),
  event: caeLow({ rut, ...low }),
});

function caeWarning(rut: string, cae: WarnedCae, today: string): DueWarning | undefined {
  const { numbersLeft } = cae;
  const days = daysBetween(today, cae.expirationDate);
  const before = daysBeforeOf(days);
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
  const before = daysBeforeOf(days);
  if (before === undefined) return undefined;
  const event = certificateExpiring({ rut, expirationDate, daysLeft: days });
  return [{ about: `certificate.expiring/${id}/${before}`, event }];
}

/** The warning that is due so many days before the end; none when it is far off or has passed. */
const daysBeforeOf = (days: number): number | undefined =>
  days < 0 ? undefined : DAYS_BEFORE.find((before) => days <= before);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
