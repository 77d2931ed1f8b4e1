/** The warnings before an enterprise can no longer issue (docs/contract.md#warnings): which are due, judged without a clock. */
import type { CfeType } from './cfeTypes.ts';
import { daysBetween } from './montevideo.ts';
import { caeExpiring, caeLow, certificateExpiring, type WebhookEvent } from './webhookEvents.ts';

/** How far back we look for the pace at which numbers are used, in days. */
export const PACE_DAYS = 28;
/** Fewer days than this at that pace are few. */
const FEW_DAYS = 7;
/** Fewer numbers than this part of the CAEs that have any are few: a tenth. */
const FEW_PART = 10;
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
  const types = [...new Set(enterprise.caes.map(({ type }) => type))];
  return [
    ...types.flatMap((type) => lowWarning(enterprise, type, today) ?? []),
    ...enterprise.caes.flatMap((cae) => caeWarning(enterprise.rut, cae, today) ?? []),
    ...(certificateWarning(enterprise, today) ?? []),
  ];
}

/** Whether `about` is a warning that may be given again, once what it was about has passed. */
export const isRepeatable = (about: string): boolean => about.startsWith('cae.low/');

/** The numbers of a type run low: few days, few numbers, or none. A type of which nothing is valid and nothing was used is none. */
function lowWarning(
  { rut, caes, usedLately }: WarnedEnterprise,
  type: CfeType,
  today: string,
): DueWarning | undefined {
  const valid = caes.filter(
    (cae) => cae.type === type && cae.issueDate <= today && today <= cae.expirationDate,
  );
  const used = usedLately.get(type) ?? 0;
  if (valid.length === 0 && used === 0) return undefined;
  const withNumbers = valid.filter(({ numbersLeft }) => numbersLeft > 0);
  const left = sum(withNumbers.map(({ numbersLeft }) => numbersLeft));
  const size = sum(withNumbers.map(({ numberStart, numberEnd }) => numberEnd - numberStart + 1));
  const days = daysLeft(left, used);
  const isLow = left === 0 || left * FEW_PART < size || (days !== null && days < FEW_DAYS);
  return isLow
    ? { about: `cae.low/${type}`, event: caeLow({ rut, type, numbersLeft: left, daysLeft: days }) }
    : undefined;
}

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
