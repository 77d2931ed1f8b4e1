/** Whether a CAE continues where the company's earlier system stopped (docs/contract.md#first-number). */
import type { CfeType } from '../receipts/cfeTypes.ts';
import { montevideoDate } from '../values/montevideo.ts';
import { caeStatus } from './cae.ts';

/** The authority does not know the number before the first one used here, or already knows the first one. */
export const CAE_START_FINDINGS = ['before_unknown', 'first_known'] as const;
export type CaeStartFinding = (typeof CAE_START_FINDINGS)[number];

/** The stored facts of a CAE that was perhaps partly used elsewhere. */
interface StartedCae {
  readonly type: CfeType;
  readonly serie: string;
  readonly authorizationNumber: string;
  readonly expirationDate: string;
  readonly lastNumber: number;
  readonly numbersLeft: number;
  /** `cae_start_number` if it is above the first of the range. */
  readonly startNumber?: number | null;
  /** Null until the authority has answered. */
  readonly startFindings?: readonly CaeStartFinding[] | null;
}

/** A warning about the first number of a CAE. */
export interface CaeWarning {
  readonly code: 'cae.number_before_unknown' | 'cae.first_number_known';
  readonly message: string;
}

/** Returns the findings. `isFirstKnown`: null if undecided, because one of our CFEs may have the number. */
export function caeStartFindings({
  isBeforeKnown,
  isFirstKnown,
}: {
  isBeforeKnown: boolean;
  isFirstKnown: boolean | null;
}): CaeStartFinding[] {
  return CAE_START_FINDINGS.filter((finding) =>
    finding === 'before_unknown' ? !isBeforeKnown : isFirstKnown === true,
  );
}

/** How long the other system's last CFEs may still arrive at the authority. */
const ASKED_MILLISECONDS = 60 * 86_400_000;

/** True when the authority is no longer asked at `now`: the CAE gives no more numbers, or was uploaded long ago. */
export const isCaeStartOver = (cae: StartedCae & { readonly createdAt: Date }, now: Date): boolean =>
  isUsedUp(cae, montevideoDate(now)) || now.getTime() - cae.createdAt.getTime() >= ASKED_MILLISECONDS;

const isUsedUp = (cae: StartedCae, today: string): boolean =>
  cae.numbersLeft === 0 || caeStatus(cae, today) !== 'OK';

/** Returns the findings that still matter on `today` (Montevideo): the CAE gives numbers, a known first number is not used yet. */
export function currentCaeStartFindings(cae: StartedCae, today: string): readonly CaeStartFinding[] {
  const { startNumber, startFindings, lastNumber } = cae;
  if (!startNumber || !startFindings || isUsedUp(cae, today)) return [];
  return startFindings.filter((finding) => finding === 'before_unknown' || lastNumber < startNumber);
}

/** Returns the warnings about the first number of a CAE on `today` (Montevideo). */
export function caeWarnings(cae: StartedCae, today: string): CaeWarning[] {
  const { type, serie, authorizationNumber, startNumber } = cae;
  const first = Number(startNumber);
  return currentCaeStartFindings(cae, today).map((finding) =>
    finding === 'before_unknown'
      ? {
          code: 'cae.number_before_unknown',
          message: `The tax authority does not know ${type} ${serie} ${first - 1}, the last number before the numbers that this service uses from CAE ${authorizationNumber}: check which number the earlier system used last.`,
        }
      : {
          code: 'cae.first_number_known',
          message: `The tax authority already knows ${type} ${serie} ${first}, the first number that this service uses from CAE ${authorizationNumber}: the operator of the service must skip what the earlier system used.`,
        },
  );
}
