import * as z from 'zod';
import { validateCfe } from '../../../commands/receipts/issueCfe.ts';
import { PreviewRequest } from '../../../domain/receipts/cfeRequest.ts';
import { completeRequest } from '../../../domain/receipts/preview.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { invalidInput } from '../../../errors.ts';
import { PreviewView, previewView } from '../../../views/receipts/validation.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

const Query = z.strictObject({
  prices: z
    .enum(['net', 'gross'])
    .optional()
    .meta({
      'x-enum-descriptions': ['Prices exclude VAT.', 'Prices include VAT.'],
      description: 'Whether prices include VAT; required where a line has it.',
      examples: ['gross'],
    }),
});

/** POST …/cfes/preview: computes the amounts that a request leaves out. */
export const previewCfeRoute = defineRoute({
  name: 'previewCfe',
  method: 'POST',
  path: '/enterprises/{rut}/cfes/preview',
  summary: 'Compute amounts of CFE',
  about:
    'Takes the body of POST …/cfes, in which `item_amount` and all totals but `currency`, `exchange_rate` and `tax_other_amount` may be left out, computes them, and checks the whole as `validate_only` does: 200 with the body ready to be posted, or the same 400. Nothing is stored.',
  auth: 'token',
  storesNothing: true,
  role: 'MEMBER',
  params: { rut: Rut },
  query: Query,
  body: { schema: PreviewRequest, limitBytes: BODY_LIMITS.cfe, checkedBy: 'command' },
  success: { status: 200, description: 'The request with all amounts', schema: PreviewView },
  errors: ['INVALID_INPUT'],
  async handle({ params, query, caller, body }, deps) {
    const { accountId, environment } = caller;
    const completed = completeRequest(body, query.prices);
    if (!completed.ok) throw invalidInput([...completed.faults]);
    const whole = completed.value;
    const request = { accountId, rut: params.rut, environment, body: whole, awaitsTestKit: false };
    const { warnings } = await validateCfe(deps, request);
    return previewView(whole, warnings);
  },
});
