import * as z from 'zod';
import { equipSandbox, obtainsTestKit } from '../../../commands/enterprises/equipSandbox.ts';
import { creditCfe, readCredit, validateCredit } from '../../../commands/receipts/creditCfe.ts';
import { findCfe } from '../../../db/receipts/cfes.ts';
import { CfeId, parseCfeId } from '../../../domain/receipts/cfeId.ts';
import { CreditRequest, creditNoteType } from '../../../domain/receipts/credit/creditNote.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { cfeView, IssuedCfeView } from '../../../views/receipts/cfe.ts';
import { CreditView, creditView } from '../../../views/receipts/credit.ts';
import { ValidationView, validationView } from '../../../views/receipts/validation.ts';
import { environmentQuery } from '../../environmentRead.ts';
import { type ApiCaller, BODY_LIMITS, defineRoute } from '../../route.ts';
import { requireRequestedCfe } from './getCfe.ts';
import { firstAnswerOf, ValidateOnly, waitForVerdict } from './issueCfe.ts';

interface CreditParams {
  readonly rut: string;
  readonly cfe_id: string;
}

/** Returns the parts of the path's cfe_id, whose schema has checked it. */
function partsOf({ cfe_id }: CreditParams) {
  const parts = parseCfeId(cfe_id);
  if (!parts) throw new TypeError('a cfe_id was not checked');
  return parts;
}

const keyOf = (params: CreditParams, { environment }: Pick<ApiCaller, 'environment'>) => ({
  rut: params.rut,
  environment,
  ...partsOf(params),
});

/** Returns the facts of a note that issuing in the sandbox needs. */
const kindOf = (params: CreditParams) => ({ cfe_type: creditNoteType(partsOf(params).type) });

/** POST …/cfes/{cfe_id}/credit-notes: computes a credit note and issues it. */
export const creditCfeRoute = defineRoute({
  name: 'creditCfe',
  method: 'POST',
  path: '/enterprises/{rut}/cfes/{cfe_id}/credit-notes',
  summary: 'Credit a CFE',
  about:
    'Computes a credit note for lines, a percentage, an amount or all that is left of a receipt, and issues it as POST …/cfes does: 201, `Idempotency-Key`, `Prefer: wait`, `validate_only`. The note has the receiver, currency, exchange rate and kind of prices of the receipt, and its share of discounts and surcharges; all notes together come to the receipt in every total, to the cent.',
  auth: 'token',
  sandbox: true,
  role: 'MEMBER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject({ validate_only: ValidateOnly }),
  body: { schema: CreditRequest, limitBytes: BODY_LIMITS.cfe },
  success: {
    status: 201,
    description: 'The credit note with its number; the verdict follows',
    schema: IssuedCfeView,
  },
  errors: ['INVALID_INPUT', 'NOT_FOUND'],
  async prepare({ params, caller }, deps) {
    if (caller.environment === 'sandbox') await equipSandbox(deps, { rut: params.rut, body: kindOf(params) });
    return undefined;
  },
  async handle({ params, caller, body, idempotency, requestId }, deps) {
    const { accountId } = caller;
    const input = { accountId, key: keyOf(params, caller), request: body, idempotency, requestId };
    const cfe = await creditCfe(deps, input);
    return { ...cfeView(cfe, deps), warnings: cfe.warnings ?? [] };
  },
  trial: {
    isSelected: ({ validate_only }) => validate_only === 'true',
    success: {
      status: 200,
      description: '`validate_only=true`: the note could be issued; nothing was stored and no number taken',
      schema: ValidationView,
    },
    async handle({ params, caller, body }, deps) {
      const { accountId, environment } = caller;
      const awaitsTestKit = environment === 'sandbox' && obtainsTestKit(deps, kindOf(params));
      const input = { accountId, key: keyOf(params, caller), request: body, awaitsTestKit };
      const { content, warnings } = await validateCredit(deps, input);
      return validationView(content, warnings);
    },
  },
  firstAnswer: firstAnswerOf,
  waitFor: waitForVerdict,
});

/** GET …/cfes/{cfe_id}/credit: reads the amounts that are left to credit. */
export const getCreditRoute = defineRoute({
  name: 'getCredit',
  method: 'GET',
  path: '/enterprises/{rut}/cfes/{cfe_id}/credit',
  summary: 'Read what is left to credit',
  about:
    'What is left of a receipt to credit, and its credit notes: every note that is not REJECTED counts. A note that was posted with lines of its own counts by its amount, which takes of every line in proportion. Nothing is left of a credit note or of a REJECTED receipt.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut, cfe_id: CfeId },
  query: z.strictObject(environmentQuery),
  success: { status: 200, description: 'What is left', schema: CreditView },
  errors: ['NOT_FOUND'],
  async handle(request, deps) {
    const { left, notes } = await readCredit(deps, await requireRequestedCfe(deps.orm, findCfe, request));
    return creditView(left, notes);
  },
});
