import { randomUUID } from 'node:crypto';
import { type ApiKeys, parseApiKey } from '../crypto/apiKeys.ts';
import { insertApiKey, lockAccount, lockApiKey } from '../db/accounts.ts';
import { ApiKey } from '../db/entities/people.ts';
import { USUAL_CAPS } from '../domain/caps.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { invalidInput, Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { madeAlready } from './steps/madeAlready.ts';

export interface CreateApiKeyDeps extends CommandDeps {
  readonly apiKeys: ApiKeys;
}

/**
 * Makes an API key for an account; `text` is the key itself, to be shown only now. A `text` of the caller's own (the
 * local stack keeps its keys) makes the key once: a second call answers the one that is there; with a `keyId` of its own a
 * second call is refused (INVALID_INPUT), as a form that is sent twice is. Refuses an unknown
 * account (NOT_FOUND), a text that is not a key of that environment or is another's already, and more keys than an
 * account may have, revoked ones aside (INVALID_INPUT).
 */
export async function createApiKey(
  deps: CreateApiKeyDeps,
  input: { accountId: string; environment: Environment; label?: string; text?: string; keyId?: string },
): Promise<{ key: ApiKey; text: string }> {
  const { accountId, environment, label = null } = input;
  const { apiKeys: most } = deps.caps ?? USUAL_CAPS;
  const { text, publicId, hash } =
    input.text === undefined ? deps.apiKeys.create(environment) : given(deps, input.text, environment);
  const key = await deps.orm.em.fork().transactional(async (em) => {
    await lockAccount(em, accountId);
    const id = input.keyId ?? randomUUID();
    if (input.keyId !== undefined && (await lockApiKey(em, id))) throw madeAlready('API key');
    const now = deps.clock();
    const stored = await insertApiKey(em, {
      id,
      publicId,
      accountId,
      environment,
      hash,
      label,
      createdAt: now,
      lastUsedAt: null,
      revokedAt: null,
    });
    if (stored.id !== id) return stored;
    if ((await em.count(ApiKey, { accountId, revokedAt: null })) > most) {
      const message = `The account has ${most} API keys already, the maximum (CFE_MOST_API_KEYS); revoke one first.`;
      throw invalidInput([{ path: '', code: 'api_key.too_many', message }]);
    }
    audited(deps, em, { action: 'api_key.create', subject: id, accountId }, now);
    return stored;
  });
  if (key.accountId === accountId && deps.apiKeys.matches(text, key.hash)) return { key, text };
  throw new Refusal('INVALID_INPUT', 'This API key is already taken.');
}

function given({ apiKeys }: CreateApiKeyDeps, text: string, environment: Environment) {
  const parts = parseApiKey(text);
  if (parts?.environment !== environment)
    throw new Refusal('INVALID_INPUT', `The given text is not an API key for ${environment}.`);
  return { text, publicId: parts.publicId, hash: apiKeys.hashOf(text) };
}

/**
 * Ends an API key, and with it every token that was obtained with it; for good. One that was revoked before stays as
 * it is. Refuses an unknown one, with an `accountId` also another account's (NOT_FOUND).
 */
export function revokeApiKey(
  deps: CommandDeps,
  input: { keyId: string; accountId?: string; reason?: string | undefined },
): Promise<ApiKey> {
  return deps.orm.em.fork().transactional(async (em) => {
    const key = await lockApiKey(em, input.keyId);
    if (!key || (input.accountId ?? key.accountId) !== key.accountId)
      throw new Refusal('NOT_FOUND', `There is no API key ${input.keyId}.`);
    if (key.revokedAt !== null) return key;
    const now = deps.clock();
    key.revokedAt = now;
    const { accountId } = key;
    audited(deps, em, { action: 'api_key.revoke', subject: key.id, accountId, reason: input.reason }, now);
    return key;
  });
}
