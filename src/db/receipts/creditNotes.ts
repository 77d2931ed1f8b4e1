import type { EntityManager } from '@mikro-orm/postgresql';
import Big from 'big.js';
import type { CfeDocument } from '../../domain/receipts/cfeDocument.ts';
import type { CfeStatus } from '../../domain/receipts/cfeStatus.ts';
import type { CfeType } from '../../domain/receipts/cfeTypes.ts';
import type { CountedNote, CreditedLine } from '../../domain/receipts/credit/creditLeft.ts';
import { CREDIT_NOTES } from './references.ts';

/** A credit note of a CFE. */
export interface CreditNoteRow {
  readonly type: CfeType;
  readonly sequence: number;
  readonly status: CfeStatus;
  /** The amount that the note pays or, if the caller wrote its lines, takes of the CFE; in the CFE's currency, decimal text. */
  readonly amount: string;
  readonly credited: readonly CreditedLine[] | null;
  readonly document: Pick<CfeDocument, 'totals' | 'adjustments'>;
}

/** Returns all credit notes of a CFE, oldest first. */
export function listCreditNotes(em: EntityManager, originalId: string): Promise<CreditNoteRow[]> {
  return em.execute<CreditNoteRow[]>(
    `select note.type, note.sequence, note.status, note.credited,
       jsonb_strip_nulls(jsonb_build_object('totals', note.document -> 'totals',
         'adjustments', note.document -> 'adjustments')) as document,
       round(case when note.credited is null then ref.taken else note.pay_amount end, 2)::text as amount
     from cfe_reference ref join cfe note on note.id = ref.cfe_uuid
     where ref.original_id = ? and note.type in (?)
     order by note.created_at, note.sequence`,
    [originalId, [...CREDIT_NOTES]],
  );
}

/** Returns whether a note reduces the amounts left to credit. */
export const isCounted = ({ status }: CreditNoteRow): boolean => status !== 'REJECTED';

/** Returns the notes that reduce the amounts left to credit. */
export const countedNotes = (notes: readonly CreditNoteRow[]): CountedNote[] =>
  notes
    .filter(isCounted)
    .map(({ credited, document, amount }) =>
      credited ? { credited, document } : { credited, pay: Big(amount) },
    );
