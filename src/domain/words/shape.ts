import type { CfeStatus } from '../cfeStatus.ts';
import type { StuckReason } from '../stuckReason.ts';

/** A name in a few words, and a sentence or two on it. */
export interface Words {
  readonly label: string;
  readonly means: string;
}

/** The words of one language. */
export interface CfeWords {
  readonly status: Readonly<Record<CfeStatus, Words>>;
  /** `mend`: what a person does about it. */
  readonly stuck: Readonly<Record<StuckReason, Words & { readonly mend: string }>>;
  /** The reasons of rejections, the authority's and ours. */
  readonly rejection: Readonly<Record<RejectionCode, string>>;
  readonly observation: string;
  readonly otherRejection: string;
}

/** The codes of rejections that are known: of receipts, of sobres (`11` is a service's, for S07), and ours. */
export const REJECTION_CODES = [
  'E01',
  'E02',
  'E03',
  'E04',
  'E05',
  'E06',
  'E07',
  'E08',
  'E09',
  'E10',
  'E11',
  'E12',
  'E13',
  'E14',
  'E15',
  'S01',
  'S02',
  'S03',
  'S04',
  'S05',
  'S06',
  'S07',
  'S08',
  '11',
  'abandoned',
  'reference.rejected',
  'duplicate.not_ours',
] as const;
export type RejectionCode = (typeof REJECTION_CODES)[number];
