import type { EntityManager } from '@mikro-orm/postgresql';
import { lockOpenBranch } from '../../db/enterprises/enterprises.ts';
import type { Cfe, CfeRow } from '../../db/entities/receipts.ts';
import { rollBackAfter, shareTransaction } from '../../db/orm.ts';
import type { LeasedMessage } from '../../db/outbox.ts';
import { type CfeKey, lockCfe } from '../../db/receipts/cfes.ts';
import {
  type CreditNoteRow,
  countedNotes,
  isCounted,
  listCreditNotes,
} from '../../db/receipts/creditNotes.ts';
import type { CfeContent } from '../../domain/receipts/cfeDocument.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { type Figures, figuresLeft } from '../../domain/receipts/credit/creditLeft.ts';
import {
  type CreditNote,
  type CreditRequest,
  isCreditable,
  readNoteScope,
  writeCreditNote,
} from '../../domain/receipts/credit/creditNote.ts';
import type { RequestWarning } from '../../domain/receipts/requestWarnings.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { type Fault, invalidInput, Refusal } from '../../errors.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { checkInTransaction, type IssueCfeInput, type IssueDeps, issueCfe } from './issueCfe.ts';

/** A credit note to be computed: `key` is the receipt that it credits. */
export interface CreditCfeInput extends Pick<IssueCfeInput, 'accountId' | 'idempotency' | 'requestId'> {
  readonly key: CfeKey;
  readonly request: CreditRequest;
  /** Runs in the note's transaction, and undoes it by throwing. `counted`: the earlier notes that reduced the amounts left. */
  readonly onIssued?: (em: EntityManager, note: CfeRow, counted: readonly string[]) => void;
}

/**
 * Issues a credit note, through `issueCfe`, for the amounts of a CFE that the request takes. The CFE stays locked from before
 * the reading of the amounts left until the note is stored, so that notes on one CFE follow one another.
 * Throws as `issueCfe` does, with the faults at the fields of the request; NOT_FOUND for an unknown CFE.
 */
export async function creditCfe(deps: IssueDeps, input: CreditCfeInput): Promise<CfeRow> {
  const starts: LeasedMessage[] = [];
  const outbox = { ...deps.outbox, dispatchStored: (message: LeasedMessage) => void starts.push(message) };
  const note = await deps.orm.em.fork().transactional(async (em) => {
    const { body, credited, counted } = await computeNote(em, deps, input);
    const { accountId, idempotency, requestId, key, onIssued } = input;
    const { rut, environment } = key;
    const issued = await atOwnFields(
      issueCfe(
        { ...deps, orm: shareTransaction(em), outbox },
        { accountId, rut, environment, idempotency, requestId, body, credited },
      ),
    );
    onIssued?.(em, issued, counted);
    return issued;
  });
  for (const message of starts) deps.outbox.dispatchStored(message);
  return note;
}

/** Checks a request as `creditCfe` does, and stores nothing; throws as it does. `counted`: as for `onIssued`. */
export async function validateCredit(
  deps: CommandDeps,
  input: Omit<CreditCfeInput, 'idempotency' | 'requestId'> & { awaitsTestKit: boolean },
): Promise<{
  content: CfeContent;
  warnings: readonly RequestWarning[];
  counted: readonly string[];
}> {
  return rollBackAfter(deps.orm, async (orm) => {
    const { body, credited, counted } = await computeNote(orm.em.fork(), deps, input);
    const { accountId, key, awaitsTestKit } = input;
    const { rut, environment } = key;
    const note = { accountId, rut, environment, body, credited, awaitsTestKit };
    const checked = await atOwnFields(checkInTransaction({ ...deps, orm }, note));
    return { ...checked, counted };
  });
}

async function computeNote(
  em: EntityManager,
  { clock }: Pick<CommandDeps, 'clock'>,
  { key, request }: Pick<CreditCfeInput, 'key' | 'request'>,
): Promise<CreditNote & { readonly counted: readonly string[] }> {
  const original = await lockCfe(em, key);
  const cfeId = formatCfeId(key);
  if (!original) throw unknownCfe(cfeId, key);
  requireCreditable(original);
  const now = clock();
  const {
    emission_date: emissionDate = montevideoDate(now),
    payment_method: paymentMethod,
    reason,
  } = request;
  const { document } = original;
  const notes = await listCreditNotes(em, original.id);
  const left = figuresLeft(document, countedNotes(notes), montevideoDate(now));
  const scope = readNoteScope(request, document, left, emissionDate);
  if (!scope.ok) throw invalidInput(scope.faults);
  const { branch } = document.issuer;
  const openBranch = await lockOpenBranch(em, { rut: key.rut, branch }, now);
  const note = writeCreditNote(document, left, scope.value, {
    cfeId,
    emissionDate,
    paymentMethod,
    reason,
    branch: openBranch ? branch : undefined,
  });
  return { ...note, counted: notes.filter(isCounted).map(formatCfeId) };
}

/** Returns the refusal of an unknown cfe_id (NOT_FOUND). */
const unknownCfe = (cfeId: string, { environment }: Pick<CfeKey, 'environment'>): Refusal =>
  new Refusal(
    'NOT_FOUND',
    `The enterprise has no CFE ${cfeId}${environment === 'sandbox' ? ' in the sandbox' : ''}.`,
  );

/** Throws INVALID_INPUT for a CFE that no credit note corrects. */
function requireCreditable({ type, status }: Pick<Cfe, 'type' | 'status'>): void {
  if (isCreditable({ type, status })) return;
  const found = status === 'REJECTED' ? 'a REJECTED one' : `one of type ${type}`;
  const message = `cfe_id: must be a receipt or debit note that is not REJECTED, found ${found}.`;
  throw invalidInput([{ path: '/path/cfe_id', code: 'credit.original', message }]);
}

/** The fields of the request that have another place in the note. */
const PLACES: Readonly<Record<string, string>> = {
  '/header/doc_id/emission_date': '/emission_date',
  '/header/doc_id/payment_method': '/payment_method',
  '/extra/reference_reason': '/reason',
};

/** Moves the faults of a note to the request's fields from which the note was computed. */
async function atOwnFields<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Refusal) || error.faults.length === 0) throw error;
    throw invalidInput(error.faults.map(atOwnField));
  }
}

function atOwnField(fault: Fault): Fault {
  const path = PLACES[fault.path];
  if (path === undefined) return { ...fault, path: '' };
  const name = fault.path.slice(1).replaceAll('/', '.');
  return { ...fault, path, message: fault.message.replace(name, path.slice(1)) };
}

/** The amounts of a CFE that are left to credit; null for a CFE that no credit note corrects. */
export interface CreditState {
  readonly left: Figures | null;
  readonly notes: readonly CreditNoteRow[];
}

/** Returns the amounts of a CFE that are left to credit. */
export async function readCredit(
  { orm, clock }: Pick<CommandDeps, 'orm' | 'clock'>,
  { id, type, status, document }: Pick<Cfe, 'id' | 'type' | 'status' | 'document'>,
): Promise<CreditState> {
  const notes = await listCreditNotes(orm.em.fork(), id);
  if (!isCreditable({ type, status })) return { left: null, notes };
  return { left: figuresLeft(document, countedNotes(notes), montevideoDate(clock())), notes };
}
