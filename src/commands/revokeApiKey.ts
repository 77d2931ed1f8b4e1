import { lockApiKey } from '../db/accounts.ts';
import type { ApiKey } from '../db/entities/ApiKey.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

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
    const why = input.reason === undefined ? {} : { reason: input.reason };
    audited(deps, em, { action: 'api_key.revoke', subject: key.id, accountId, ...why }, now);
    return key;
  });
}
