/** The order in which the receipts of a test run are issued, and the originals of its notes. */
import { formatCfeId } from '../receipts/cfeId.ts';
import { type CfeStatus, isFinal } from '../receipts/cfeStatus.ts';
import { CFE_TYPE_NAMES, type CfeType, cfeTypeRow } from '../receipts/cfeTypes.ts';
import type { TypeCount } from './homologation.ts';

/** A receipt of a run; `sequence` and `status` are null before it is issued. */
export interface TestItem {
  readonly place: number;
  readonly type: CfeType;
  readonly sequence: number | null;
  readonly status: CfeStatus | null;
}

/** Returns the type whose receipts a note corrects; null for other types. */
export function originalTypeOf(type: CfeType): CfeType | null {
  const { note, family } = cfeTypeRow(type);
  if (note === null) return null;
  const originals = CFE_TYPE_NAMES.map((name) => ({ name, ...cfeTypeRow(name) }));
  return originals.find((row) => row.family === family && row.note === null)?.name ?? null;
}

const isNote = ({ type }: TestItem): boolean => originalTypeOf(type) !== null;
const isOpen = ({ sequence }: TestItem): boolean => sequence === null;
const isUnderWay = ({ status }: TestItem): boolean => status !== null && !isFinal(status);
/** An observed receipt counts as received. */
const isReceived = ({ status }: TestItem): boolean => status === 'ACCEPTED' || status === 'OBSERVED';

/**
 * Returns the receipts that can be issued now, in order, and whether verdicts are awaited. Notes follow once all other receipts
 * have their verdicts; those without a received original are never issued.
 */
export function planNext(items: readonly TestItem[]): { next: readonly TestItem[]; isWaiting: boolean } {
  const open = items.filter((item) => isOpen(item) && !isNote(item));
  if (open.length > 0) return { next: open, isWaiting: true };
  const isWaiting = items.some(isUnderWay);
  if (items.some((item) => !isNote(item) && isUnderWay(item))) return { next: [], isWaiting };
  const notes = items.filter((item) => isOpen(item) && originalsFor(items, item).length > 0);
  return { next: notes, isWaiting };
}

/** Returns the received originals that a note may correct. */
const originalsFor = (items: readonly TestItem[], note: TestItem): TestItem[] =>
  items.filter((item) => item.type === originalTypeOf(note.type) && isReceived(item));

/**
 * Returns the index of a receipt's content (testReceipts.ts) and, for a note, the cfe_id of its original: received
 * originals in turn, so that each is corrected once before any is corrected again by the same type.
 */
export function placeIn(
  items: readonly TestItem[],
  item: TestItem,
): { index: number; originalId: string | null } {
  const position = items
    .filter(({ type }) => type === item.type)
    .findIndex(({ place }) => place === item.place);
  if (!isNote(item))
    return { index: position + FIRST_CONTENT[cfeTypeRow(item.type).family], originalId: null };
  const originals = originalsFor(items, item);
  const original = originals[position % originals.length];
  if (!original || original.sequence === null) throw new Error('a note has no received original');
  const { type, sequence } = original;
  return { index: placeIn(items, original).index, originalId: formatCfeId({ type, sequence }) };
}

/** Families begin with different contents: one receipt of each type has two emission dates, too. */
const FIRST_CONTENT = { ticket: 0, invoice: 1, export: 1 } as const;

/** Counts the receipts of a run by type. */
export function countItems(items: readonly TestItem[]): TypeCount[] {
  return CFE_TYPE_NAMES.flatMap((type) => {
    const ofType = items.filter((item) => item.type === type);
    if (ofType.length === 0) return [];
    const received = ofType.filter(isReceived).length;
    const rejected = ofType.filter(({ status }) => status === 'REJECTED').length;
    return [
      { type, wanted: ofType.length, received, rejected, pending: ofType.length - received - rejected },
    ];
  });
}

/** Returns the sums of all types. */
export function sumOfCounts(counts: readonly TypeCount[]): Omit<TypeCount, 'type'> {
  const sum = { wanted: 0, received: 0, rejected: 0, pending: 0 };
  for (const count of counts)
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += count[key];
  return sum;
}
