import * as z from 'zod';
import { equipSandbox, obtainsTestKit } from '../../../commands/enterprises/equipSandbox.ts';
import { issueCfe as issue, validateCfe } from '../../../commands/receipts/issueCfe.ts';
import type { CfeRow } from '../../../db/entities/receipts.ts';
import { recordFirstAnswer } from '../../../db/people/idempotency.ts';
import { findCfe } from '../../../db/receipts/cfes.ts';
import { parseCfeId } from '../../../domain/receipts/cfeId.ts';
import { CfeRequest } from '../../../domain/receipts/cfeRequest.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { failpoint } from '../../../failpoints.ts';
import { cfeView, cfeViewAt, IssuedCfeView } from '../../../views/receipts/cfe.ts';
import { ValidationView, validationView } from '../../../views/receipts/validation.ts';
import type { ApiDeps } from '../../deps.ts';
import type { WaitOptions } from '../../receipts/verdictWatch.ts';
import { type ApiCaller, BODY_LIMITS, defineRoute } from '../../route.ts';

/** The state of every CFE when its number is taken. */
const AS_TAKEN = { status: 'PENDING', rejection: null, digest: null } as const;

export const ValidateOnly = z
  .enum(['true', 'false'])
  .optional()
  .meta({
    'x-enum-descriptions': ['Validates only: 200, nothing is stored.', 'Issues, as without the parameter.'],
    description:
      '`true`: check the request by every rule, with enterprise, certificate and CAE, and answer 200 with the totals as read, or the 400 that issuing would return. Nothing is stored and no number is taken; `Idempotency-Key` and `Prefer` are ignored. Default `false`.',
    examples: ['true'],
  });

/** Returns the answer to the request that issued a CFE. */
export const firstAnswerOf = (cfe: CfeRow, deps: ApiDeps): z.input<typeof IssuedCfeView> => ({
  ...cfeViewAt(cfe, cfe.firstAnswer ?? AS_TAKEN, deps),
  warnings: cfe.warnings ?? [],
});

/** POST …/cfes: issues a CFE and sends it to the authority. */
export const issueCfeRoute = defineRoute({
  name: 'issueCfe',
  method: 'POST',
  path: '/enterprises/{rut}/cfes',
  summary: 'Issue and send CFE',
  about:
    'Checks the receipt by every rule, numbers it, signs it and sends it to the tax authority. The answer is 201 as soon as it is numbered; the verdict follows (`cfe.updated`, GET, or `Prefer: wait`). Send an `Idempotency-Key`: one key numbers at most one receipt, permanently.',
  auth: 'token',
  sandbox: true,
  role: 'MEMBER',
  params: { rut: Rut },
  query: z.strictObject({ validate_only: ValidateOnly }),
  body: { schema: CfeRequest, limitBytes: BODY_LIMITS.cfe, checkedBy: 'command' },
  success: {
    status: 201,
    description: 'The CFE with its number; the verdict follows',
    schema: IssuedCfeView,
  },
  errors: ['INVALID_INPUT'],
  async prepare({ params, caller, body }, deps) {
    if (caller.environment === 'sandbox') await equipSandbox(deps, { rut: params.rut, body });
    return undefined;
  },
  async handle({ params, caller, body, idempotency, requestId }, deps) {
    const { accountId, environment } = caller;
    const cfe = await issue(deps, { accountId, rut: params.rut, environment, body, idempotency, requestId });
    return { ...cfeView(cfe, deps), warnings: cfe.warnings ?? [] };
  },
  trial: {
    isSelected: ({ validate_only }) => validate_only === 'true',
    success: {
      status: 200,
      description: '`validate_only=true`: the CFE could be issued; nothing was stored and no number taken',
      schema: ValidationView,
    },
    async handle({ params, caller, body }, deps) {
      const { accountId, environment } = caller;
      const awaitsTestKit = environment === 'sandbox' && obtainsTestKit(deps, body);
      const { content, warnings } = await validateCfe(deps, {
        accountId,
        rut: params.rut,
        environment,
        body,
        awaitsTestKit,
      });
      return validationView(content, warnings);
    },
  },
  firstAnswer: firstAnswerOf,
  waitFor: waitForVerdict,
});

/** Waits for the verdict on a just issued CFE, and returns its new state; `data` if the wait is aborted. */
export async function waitForVerdict(
  {
    params,
    caller,
    idempotency,
  }: {
    readonly params: { readonly rut: string };
    readonly caller: Pick<ApiCaller, 'environment'>;
    readonly idempotency: unknown;
  },
  data: z.input<typeof IssuedCfeView>,
  waiting: WaitOptions,
  deps: ApiDeps,
): Promise<z.input<typeof IssuedCfeView>> {
  const { orm, verdicts } = deps;
  const parts = parseCfeId(data.cfe_id);
  const key = parts && { rut: params.rut, environment: caller.environment, ...parts };
  const cfe = key && (await findCfe(orm.em.fork(), key));
  if (!cfe) return data;
  await verdicts.wait(cfe.id, waiting);
  const decided = await findCfe(orm.em.fork(), key);
  if (!decided || waiting.signal.aborted) return data;
  failpoint('wait.decided');
  if (idempotency) await recordFirstAnswer(orm.em.fork(), decided);
  failpoint('wait.kept');
  return { ...cfeView(decided, deps), warnings: data.warnings };
}
