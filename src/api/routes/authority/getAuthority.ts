import * as z from 'zod';
import { authorityStatus } from '../../../domain/authority/authorityStatus.ts';
import type { Environment } from '../../../domain/receipts/cfeTypes.ts';
import { AuthorityStatusName } from '../../../domain/requests/enums.ts';
import { countField, MomentText } from '../../../views/formats.ts';
import { defineRoute } from '../../route.ts';

const StateView = z
  .object({
    status: AuthorityStatusName,
    since: MomentText.nullable().meta({
      description: 'Start of this status; null while UP without a known outage.',
      examples: ['2026-11-20T15:00:00.000Z', null],
    }),
    waiting: countField(
      'How many CFEs of all accounts wait for the authority: those without a verdict, except CFEs that need support and notes that wait for the verdict on the CFE they correct.',
      3,
    ),
    oldest_waiting_seconds: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description: 'How long the oldest of them has waited, in seconds; null when no CFE waits.',
        examples: [4],
      }),
  })
  .meta({ id: 'AuthorityState', description: 'The state of the tax authority in one environment.' });

/** GET /authority: the state of the authority, by environment (docs/contract.md#the-authority). */
export const getAuthorityRoute = defineRoute({
  name: 'getAuthority',
  method: 'GET',
  path: '/authority',
  summary: 'Read the state of the tax authority',
  about:
    'Whether the tax authority is available, and how many CFEs wait for it, at most a second old. CFEs are accepted in any state: those accepted while it is DOWN are sent afterwards. The event `authority.updated` reports DOWN and UP.',
  auth: 'token',
  sandbox: true,
  role: null,
  success: {
    status: 200,
    description: 'The state of the tax authority, by environment.',
    schema: z
      .object({
        production: StateView.meta({ description: 'The environment in which CFEs have fiscal validity.' }),
        sandbox: StateView.meta({ description: "The tax authority's test environment." }),
      } satisfies Record<Environment, typeof StateView>)
      .meta({ id: 'Authority', description: 'The state of the tax authority, by environment.' }),
  },
  async handle(_, { authority, clock }) {
    const states = await authority();
    const now = clock();
    const stateOf = (environment: Environment) => {
      const state = states.find((one) => one.environment === environment);
      if (!state) throw new Error(`nothing is known of ${environment}`);
      const { status, since } = authorityStatus(state, now);
      const waited = state.oldestSince && Math.floor((now.getTime() - state.oldestSince.getTime()) / 1_000);
      return {
        status,
        since: since?.toISOString() ?? null,
        waiting: state.waiting,
        oldest_waiting_seconds: waited === null ? null : Math.max(0, waited),
      };
    };
    return { production: stateOf('production'), sandbox: stateOf('sandbox') };
  },
});
