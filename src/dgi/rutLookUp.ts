import type { RegistryRecord } from '../domain/enterprises/registryRecord.ts';
import { Refusal } from '../errors.ts';
import type { DgiClient } from './client.ts';
import type { DgiCredentials } from './wsSecurity.ts';

const RETRY_AFTER_SECONDS = 30;

/** The authority refuses our query, so support must act. `code`: the stuck reason, for the log. */
class LookUpRefused extends Error {
  override readonly name = 'LookUpRefused';
  readonly code: string;

  constructor(reason: string) {
    super(reason);
    this.code = reason;
  }
}

/**
 * Creates the look-up in the authority's production registry (eRUT, docs/contract.md#registry-look-up); null for an
 * unknown RUT. Simultaneous queries for one RUT share a call; nothing is cached. Rejects with UNAVAILABLE when the
 * authority does not answer or no certificate is configured.
 */
export function createRutLookUp(options: {
  client: Pick<DgiClient, 'lookUpRut'>;
  /** The operator's credentials. */
  credentials: DgiCredentials | null;
}): (rut: string) => Promise<RegistryRecord | null> {
  const { client, credentials } = options;
  const pending = new Map<string, Promise<RegistryRecord | null>>();

  async function ask(rut: string): Promise<RegistryRecord | null> {
    if (!credentials) throw unavailable('Looking up the registry is not set up on this service.');
    const answer = await client.lookUpRut(credentials, 'production', rut);
    if (answer.kind === 'found') return answer.record;
    if (answer.kind === 'unregistered') return null;
    if (answer.kind === 'stuck') throw new LookUpRefused(answer.reason);
    throw unavailable(
      "The tax authority's registry does not answer; try again in a while.",
      answer.description,
    );
  }

  return (rut) => {
    const shared = pending.get(rut);
    if (shared) return shared;
    const answer = ask(rut).finally(() => pending.delete(rut));
    pending.set(rut, answer);
    return answer;
  };
}

/** `failure`: in the words of the table of outcomes, for the log. */
function unavailable(message: string, failure?: string): Refusal {
  const cause = failure === undefined ? {} : { cause: Object.assign(new Error(failure), { code: failure }) };
  return new Refusal('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, ...cause });
}
