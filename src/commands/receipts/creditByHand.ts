/** Credit notes that people issue in the console and at the command line: as through the API, once per key, and audited. */
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
  /** Returns the dependencies that obtain sandbox credentials; called in the sandbox only. */
  readonly equipped: () => EquipSandboxDeps;
}

/** A note on `cfe` for an account. `body`: as for POST …/credit-notes, read from JSON. */
interface CreditByHand {
  readonly cfe: Cfe;
  readonly accountId: string;
  readonly body: unknown;
}

/** `why`: the reason for the audit; `expected`: the `basis` that was shown to the person. */
interface CreditAct {
  readonly why: string | undefined;
  readonly expected: string | undefined;
}

/** Returns a text that changes with the amount of a note, and with the earlier notes that were counted. */
const basisOf = (payAmount: string, counted: readonly string[]): string =>
  [payAmount, ...counted.toSorted()].join(' ');

const creditInputOf = ({ cfe, accountId, body }: CreditByHand) => {
  const { rut, environment, type, sequence } = cfe;
  return {
    accountId,
    key: { rut, environment, type, sequence },
    request: parseOrRefuse(CreditRequest, body),
  };
};

/** Returns the facts of a note that issuing in the sandbox needs. */
const kindOf = ({ type }: Cfe) => ({ cfe_type: creditNoteType(type) });

/** Computes a note and stores nothing; throws as `creditCfe` does. `basis`: what `creditByHand` may expect. */
export async function previewCreditByHand(
  deps: CreditByHandDeps,
  input: CreditByHand,
): Promise<{ content: CfeContent; basis: string }> {
  const { cfe } = input;
  const awaitsTestKit = cfe.environment === 'sandbox' && obtainsTestKit(deps.equipped(), kindOf(cfe));
  const { content, counted } = await validateCredit(deps, { ...creditInputOf(input), awaitsTestKit });
  return { content, basis: basisOf(content.totals.pay, counted) };
}

/** Throws INVALID_INPUT if the note differs from the note that was shown to the person. */
function requireExpected(basis: string, expected: string | undefined): void {
  if (expected === undefined || basis === expected) return;
  const message = 'What is left of the receipt has changed since the note was shown: check again.';
  throw invalidInput([{ path: '', code: 'credit.changed', message }]);
}

/**
 * Issues a note once per Idempotency-Key of the account, also shared with the API for the same request. Returns the note of
 * the first request. Throws as `creditCfe` and `runStoringKey` do.
 */
export async function creditByHand(
  deps: CreditByHandDeps & { readonly requestHash: RequestHash },
  input: CreditByHand & CreditAct & { readonly idempotencyKey: string; readonly requestId?: string },
): Promise<{ note: Pick<CfeRow, 'type' | 'sequence' | 'payAmount' | 'currency'>; repeated: boolean }> {
  const { cfe, body, why, expected, requestId, idempotencyKey } = input;
  const { rut, environment } = cfe;
  const credit = creditInputOf(input);
  const idempotency = comparableKey(idempotencyKey, {
    method: 'POST',
    path: `/v1/enterprises/${rut}/cfes/${formatCfeId(cfe)}/credit-notes`,
    json: body,
    hashOf: deps.requestHash,
  });
  const scope = { accountId: credit.accountId, environment, ...idempotency };
  const outcome = await runStoringKey(deps, scope, async () => {
    if (environment === 'sandbox') await equipSandbox(deps.equipped(), { rut, body: kindOf(cfe) });
    return creditCfe(deps, {
      ...credit,
      idempotency,
      requestId,
      onIssued(em, note, counted) {
        requireExpected(basisOf(note.payAmount, counted), expected);
        const { accountId } = credit;
        const act = { action: 'cfe.credit', subject: note.id, rut, accountId, reason: why } as const;
        auditAct(deps, em, act, deps.clock());
      },
    });
  });
  if (!outcome.kept) return { note: outcome.value, repeated: false };
  // Unreachable: the hash covers the path, and this path stores CFEs only.
  if (outcome.kept.kind !== 'cfe') throw new Error('a credit note cannot be answered again');
  return { note: outcome.kept.cfe, repeated: true };
}
