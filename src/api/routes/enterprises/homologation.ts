import * as z from 'zod';
import { requireLastTestRun, startTestRun, stopTestRun } from '../../../commands/enterprises/homologation.ts';
import { TEST_RUN_SIZE } from '../../../domain/enterprises/homologation.ts';
import { CfeTypeName, TestSetName } from '../../../domain/requests/enums.ts';
import { integerSchema } from '../../../domain/values/decimal.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { HomologationView, homologationView } from '../../../views/enterprises/homologation.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

const PATH = '/enterprises/{rut}/homologation';

const StartHomologation = z
  .strictObject({
    set: TestSetName,
    cfe_types: z
      .array(CfeTypeName)
      .min(1)
      .meta({
        description:
          'Only these types; notes need the type that they correct. Default: the six of Testing, or all for SIMULATION.',
        examples: [['ETICKET', 'ETICKET_NC']],
      })
      .optional(),
    each: integerSchema({ minimum: TEST_RUN_SIZE.least, maximum: TEST_RUN_SIZE.most })
      .meta({
        description: `Receipts of each type, TESTING alone. Default: ${TEST_RUN_SIZE.usual}.`,
        examples: [TEST_RUN_SIZE.usual],
      })
      .optional(),
  })
  .meta({ id: 'StartHomologation', description: 'A test run to start.' });

/** POST …/homologation: starts a test run (docs/contract.md#test-run). */
export const startHomologationRoute = defineRoute({
  name: 'startHomologation',
  method: 'POST',
  path: PATH,
  summary: 'Start test run',
  about:
    'Issues the receipts with which a company passes the authority’s tests, in the test environment, then sends the report of their day. It takes some minutes; follow it by GET or `homologation.updated`. While a run is active, the answer is that run. For developer accounts (`is_developer`), with a production token.',
  auth: 'token',
  role: 'OWNER',
  params: { rut: Rut },
  body: { schema: StartHomologation, limitBytes: BODY_LIMITS.other },
  success: { status: 202, description: 'The run, started now or before', schema: HomologationView },
  errors: ['INVALID_INPUT', 'FORBIDDEN', 'UNAVAILABLE'],
  async handle({ params, body, caller }, deps) {
    const { set, cfe_types: types, each } = body;
    const { accountId } = caller;
    return homologationView(await startTestRun(deps, { rut: params.rut, set, types, each, accountId }));
  },
});

/** GET …/homologation: the last test run. */
export const getHomologationRoute = defineRoute({
  name: 'getHomologation',
  method: 'GET',
  path: PATH,
  summary: 'Read test run',
  about: 'The last test run: counts per type, the report, and the steps that are left.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  success: { status: 200, description: 'The last run', schema: HomologationView },
  errors: ['NOT_FOUND'],
  async handle({ params }, { orm }) {
    return homologationView(await requireLastTestRun(orm.em.fork(), params.rut));
  },
});

/** DELETE …/homologation: stops the test run. */
export const stopHomologationRoute = defineRoute({
  name: 'stopHomologation',
  method: 'DELETE',
  path: PATH,
  summary: 'Stop test run',
  about:
    'Stops the active run: no further receipt is issued. Receipts already issued get their verdicts, and their numbers stay used. A run that has ended stays as it is.',
  auth: 'token',
  role: 'OWNER',
  params: { rut: Rut },
  success: { status: 200, description: 'The run', schema: HomologationView },
  errors: ['NOT_FOUND'],
  async handle({ params }, deps) {
    return homologationView(await stopTestRun(deps, { rut: params.rut }));
  },
});
