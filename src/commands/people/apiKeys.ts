import { randomUUID } from 'node:crypto';
import { type ApiKeys, parseApiKey } from '../../crypto/apiKeys.ts';
import { ApiKey } from '../../db/entities/people.ts';
import { insertApiKey, lockAccount, lockApiKey } from '../../db/people/accounts.ts';
import { USUAL_CAPS } from '../../domain/people/caps.ts';
import type { KeyScope } from '../../domain/people/keyScope.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { invalidInput, Refusal } from '../../errors.ts';
import { alreadyCreated } from '../steps/alreadyCreated.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

export interface CreateApiKeyDeps extends CommandDeps {
  readonly apiKeys: ApiKeys;
}

/**
 * Creates an API key; returns the key itself as `text`, to be shown only now. Called again with the same `text` (the local
 * stack keeps its keys), returns the existing key. Throws NOT_FOUND for an unknown account, and INVALID_INPUT for a
 * malformed or taken `text`, a used `keyId`, or more active keys than an account may have.
 */
export async function createApiKey(
  deps: CreateApiKeyDeps,
  input: {
    accountId: string;
    environment: Environment;
    /** Default: full. */
    scope?: KeyScope | undefined;
    label?: string;
    text?: string;
    keyId?: string;
  },
): Promise<{ key: ApiKey; text: string }> {
  const { accountId, environment, scope = 'full', label = null } = input;
  const { apiKeys: most } = deps.caps ?? USUAL_CAPS;
  const { text, publicId, hash } =
    input.text === undefined
      ? deps.apiKeys.create(environment)
      : parseGivenKey(deps, input.text, environment);
  const key = await deps.orm.em.fork().transactional(async (em) => {
    await lockAccount(em, accountId);
    const id = input.keyId ?? randomUUID();
    if (input.keyId !== undefined && (await lockApiKey(em, id))) throw alreadyCreated('API key');
    const now = deps.clock();
    const stored = await insertApiKey(em, {
      id,
      publicId,
      accountId,
      environment,
      scope,
      hash,
      label,
      createdAt: now,
      lastUsedAt: null,
      revokedAt: null,
    });
    if (stored.id !== id) return stored;
    if ((await em.count(ApiKey, { accountId, revokedAt: null })) > most) {
      const message = `The account has ${most} API keys, the maximum (CFE_MOST_API_KEYS); revoke one first.`;
      throw invalidInput([{ path: '', code: 'api_key.too_many', message }]);
    }
    auditAct(deps, em, { action: 'api_key.create', subject: id, accountId }, now);
    return stored;
  });
  if (key.accountId === accountId && deps.apiKeys.matches(text, key.hash)) return { key, text };
  throw new Refusal('INVALID_INPUT', 'This API key is already taken.');
}

function parseGivenKey({ apiKeys }: CreateApiKeyDeps, text: string, environment: Environment) {
  const parts = parseApiKey(text);
  if (parts?.environment !== environment)
    throw new Refusal('INVALID_INPUT', `The given text is not an API key for ${environment}.`);
  return { text, publicId: parts.publicId, hash: apiKeys.hashOf(text) };
}

/**
 * Revokes an API key and all its tokens, permanently; repeated, it changes nothing. Throws NOT_FOUND for an
 * unknown key, or with `accountId` for one of another account.
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
    auditAct(deps, em, { action: 'api_key.revoke', subject: key.id, accountId, reason: input.reason }, now);
    return key;
  });
}
