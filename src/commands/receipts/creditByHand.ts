/** Credit notes that people issue in the console and at the command line: the same as by the API, once per key, audited. */
import type { RequestHash } from '../../crypto/requestHash.ts';
import type { Cfe, CfeRow } from '../../db/entities/receipts.ts';
import type { CfeContent } from '../../domain/receipts/cfeDocument.ts';
import { formatCfeId } from '../../domain/receipts/cfeId.ts';
import { CreditRequest, creditNoteType } from '../../domain/receipts/credit/creditNote.ts';
import { parseOrRefuse } from '../../domain/requests/faults.ts';
import { invalidInput } from '../../errors.ts';
import { type EquipSandboxDeps, equipSandbox, obtainsTestKit } from '../enterprises/equipSandbox.ts';
import { auditAct } from '../steps/auditAct.ts';
import { comparableKey } from '../steps/comparableKey.ts';
import { runStoringKey } from '../steps/runOnce.ts';
import { creditCfe, validateCredit } from './creditCfe.ts';
import type { IssueDeps } from './issueCfe.ts';

export interface CreditByHandDeps extends IssueDeps {
  /** Returns what obtains sandbox credentials; called in the sandbox only. */
  readonly equipped: () => EquipSandboxDeps;
}

/** A note of `cfe` for an account. `body`: that of POST …/credit-notes, as read from JSON. */
interface CreditByHand {
  readonly cfe: Cfe;
  readonly accountId: string;
  readonly body: unknown;
}

/** `why`: of the act, for the audit; `expected`: the `basis` that the person was shown. */
interface CreditAct {
  readonly why: string | undefined;
  readonly expected: string | undefined;
}

/** Text that changes with what a note pays, and with the notes that left it that much. */
const basisOf = (payAmount: string, counted: readonly string[]): string =>
  [payAmount, ...counted.toSorted()].join(' ');

const askedOf = ({ cfe, accountId, body }: CreditByHand) => {
  const { rut, environment, type, sequence } = cfe;
  return {
    accountId,
    key: { rut, environment, type, sequence },
    request: parseOrRefuse(CreditRequest, body),
  };
};

/** What issuing in the sandbox needs to know of the note. */
const kindOf = ({ type }: Cfe) => ({ cfe_type: creditNoteType(type) });

/** Computes a note and stores nothing; throws as `creditCfe` does. `basis`: what `creditByHand` may expect. */
export async function previewCreditByHand(
  deps: CreditByHandDeps,
  input: CreditByHand,
): Promise<{ content: CfeContent; basis: string }> {
  const { cfe } = input;
  const awaitsTestKit = cfe.environment === 'sandbox' && obtainsTestKit(deps.equipped(), kindOf(cfe));
  const { content, counted } = await validateCredit(deps, { ...askedOf(input), awaitsTestKit });
  return { content, basis: basisOf(content.totals.pay, counted) };
}

/** Throws INVALID_INPUT if the note is not the one that was shown: another amount, or shared over other amounts left. */
function requireExpected(basis: string, expected: string | undefined): void {
  if (expected === undefined || basis === expected) return;
  const message = 'What is left of the receipt has changed since the note was shown: check again.';
  throw invalidInput([{ path: '', code: 'credit.changed', message }]);
}

/**
 * Issues a note once per key, which is one of its account, and the API's for the same request. Returns the note that the
 * first such request issued, if any. Throws as `creditCfe` and `runStoringKey` do.
 */
export async function creditByHand(
  deps: CreditByHandDeps & { readonly requestHash: RequestHash },
  input: CreditByHand & CreditAct & { readonly idempotencyKey: string; readonly requestId?: string },
): Promise<{ note: Pick<CfeRow, 'type' | 'sequence' | 'payAmount' | 'currency'>; repeated: boolean }> {
  const { cfe, body, why, expected, requestId, idempotencyKey } = input;
  const { rut, environment } = cfe;
  const asked = askedOf(input);
  const idempotency = comparableKey(idempotencyKey, {
    method: 'POST',
    path: `/v1/enterprises/${rut}/cfes/${formatCfeId(cfe)}/credit-notes`,
    json: body,
    hashOf: deps.requestHash,
  });
  const scope = { accountId: asked.accountId, environment, ...idempotency };
  const outcome = await runStoringKey(deps, scope, async () => {
    if (environment === 'sandbox') await equipSandbox(deps.equipped(), { rut, body: kindOf(cfe) });
    return creditCfe(deps, {
      ...asked,
      idempotency,
      requestId,
      onIssued(em, note, counted) {
        requireExpected(basisOf(note.payAmount, counted), expected);
        const { accountId } = asked;
        const act = { action: 'cfe.credit', subject: note.id, rut, accountId, reason: why } as const;
        auditAct(deps, em, act, deps.clock());
      },
    });
  });
  if (!outcome.kept) return { note: outcome.value, repeated: false };
  // The hash covers the path, at which only notes are issued.
  if (outcome.kept.kind !== 'cfe') throw new Error('a credit note cannot be answered again');
  return { note: outcome.kept.cfe, repeated: true };
}
