import * as z from 'zod';
import { TOKEN_SECONDS } from '../../crypto/tokens.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';

/** POST /tokens: an API key for an access token. */
export const createToken = defineRoute({
  name: 'createToken',
  method: 'POST',
  path: '/tokens',
  summary: 'Create access token',
  auth: 'key',
  sandbox: true,
  role: null,
  params: {},
  query: null,
  body: { schema: z.strictObject({}), limitBytes: BODY_LIMITS.other, optional: true },
  success: {
    status: 200,
    description: 'An access token for the environment of the key',
    schema: z.object({
      access_token: z.string().meta({ description: 'JWT for the header Authorization' }),
      token_type: z.literal('Bearer'),
      expires_in: z.int().meta({ description: 'Seconds until the token expires' }),
    }),
  },
  errors: [],
  async handle({ caller }, { tokens, realClock }) {
    return {
      access_token: await tokens.issue(caller, realClock()),
      token_type: 'Bearer' as const,
      expires_in: TOKEN_SECONDS,
    };
  },
});
