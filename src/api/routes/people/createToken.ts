import * as z from 'zod';
import { TOKEN_SECONDS } from '../../../crypto/tokens.ts';
import { countField, textField } from '../../../views/formats.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

/** POST /tokens: exchanges an API key for an access token. */
export const createTokenRoute = defineRoute({
  name: 'createToken',
  method: 'POST',
  path: '/tokens',
  summary: 'Create access token',
  about:
    'Exchanges the API key for an access token, which every other request sends along with the key. Request a new one shortly before `expires_in` has passed; a token is valid only together with the key it was created with.',
  auth: 'key',
  sandbox: true,
  role: null,
  body: {
    schema: z.strictObject({}).meta({ description: 'An empty object, or no body at all.' }),
    limitBytes: BODY_LIMITS.other,
    optional: true,
  },
  success: {
    status: 200,
    description: 'An access token for the environment of the key',
    schema: z
      .object({
        access_token: textField(
          'JWT for the header Authorization: `Bearer <access_token>`.',
          'eyJhbGciOiJFZDI1NTE5…',
        ),
        token_type: z.literal('Bearer').meta({ description: 'The scheme of the header Authorization.' }),
        expires_in: countField('Seconds until the token expires.', TOKEN_SECONDS),
      })
      .meta({ id: 'AccessToken', description: 'An access token.' }),
  },
  async handle({ caller }, { tokens, realClock }) {
    return {
      access_token: await tokens.issue(caller, realClock()),
      token_type: 'Bearer' as const,
      expires_in: TOKEN_SECONDS,
    };
  },
});
