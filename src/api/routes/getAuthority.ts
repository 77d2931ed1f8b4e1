import * as z from 'zod';
import { authorityStatus } from '../../domain/authorityStatus.ts';
import type { Environment } from '../../domain/cfeTypes.ts';
import { AuthorityStatusName } from '../../domain/enums.ts';
import { countOf, MomentText } from '../../views/formats.ts';
import { defineRoute } from '../route.ts';

const StateView = z
  .object({
    status: AuthorityStatusName,
    since: MomentText.nullable().meta({
      description: 'Since when; null while it is UP and was never DOWN as far as is known.',
      examples: ['2026-11-20T15:00:00.000Z', null],
    }),
    waiting: countOf(
      'How many CFEs of all accounts wait for the authority: those without a verdict that wait neither for support nor for the verdict on the CFE that they correct.',
      3,
    ),
    oldest_waiting_seconds: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description: 'For how many seconds the oldest of them has waited; null when none waits.',
        examples: [4],
      }),
  })
  .meta({ id: 'AuthorityState', description: 'How the tax authority stands for one environment.' });

/** GET /authority: how the authority stands, by environment (docs/contract.md#the-authority). */
export const getAuthority = defineRoute({
  name: 'getAuthority',
  method: 'GET',
  path: '/authority',
  summary: 'Read how the tax authority stands',
  about:
    'Whether the tax authority answers, and how many CFEs wait for it, as of a second ago at most. CFEs are taken whatever it says: what is taken while it is DOWN waits, and is sent afterwards. `authority.updated` tells DOWN and UP as they happen.',
  auth: 'token',
  sandbox: true,
  role: null,
  success: {
    status: 200,
    description: 'How the tax authority stands, by environment.',
    schema: z
      .object({
        production: StateView.meta({ description: 'The environment in which CFEs have fiscal validity.' }),
        sandbox: StateView.meta({ description: "The tax authority's test environment." }),
      } satisfies Record<Environment, typeof StateView>)
      .meta({ id: 'Authority', description: 'How the tax authority stands, by environment.' }),
  },
  async handle(_, { authority, clock }) {
    const states = await authority();
    const now = clock();
    const told = (environment: Environment) => {
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
    return { production: told('production'), sandbox: told('sandbox') };
  },
});
