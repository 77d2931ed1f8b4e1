import type { RegistryRecord } from '../domain/registryRecord.ts';
import { Refusal } from '../errors.ts';
import type { DgiClient } from './client.ts';
import type { DgiCredentials } from './wsSecurity.ts';

/** When to ask a registry again that does not answer. */
const RETRY_AFTER_SECONDS = 30;

/** The authority refuses our question, so a person must look. `code` is the stuck reason, for the log. */
class LookUpRefused extends Error {
  override readonly name = 'LookUpRefused';
  readonly code: string;

  constructor(reason: string) {
    super(reason);
    this.code = reason;
  }
}

/**
 * Looks RUTs up in the authority's registry (eRUT, docs/contract.md#registry-look-up), production's; null for one that
 * it does not know. Nothing is kept, but questions for the same RUT at the same time share one call. Where the
 * authority is silent, or no certificate to ask with was given, the look-up refuses (UNAVAILABLE).
 */
export function createRutLookUp(options: {
  client: Pick<DgiClient, 'lookUpRut'>;
  /** The operator's own. */
  credentials: DgiCredentials | null;
}): (rut: string) => Promise<RegistryRecord | null> {
  const { client, credentials } = options;
  const underWay = new Map<string, Promise<RegistryRecord | null>>();

  async function ask(rut: string): Promise<RegistryRecord | null> {
    if (!credentials) throw unavailable('Looking up the registry is not set up on this service.');
    const answer = await client.lookUpRut(credentials, 'production', rut);
    if (answer.kind === 'found') return answer.record;
    if (answer.kind === 'unregistered') return null;
    if (answer.kind === 'stuck') throw new LookUpRefused(answer.reason);
    throw unavailable("The tax authority's registry does not answer; try again in a while.", answer.what);
  }

  return (rut) => {
    const shared = underWay.get(rut);
    if (shared) return shared;
    const own = ask(rut).finally(() => underWay.delete(rut));
    underWay.set(rut, own);
    return own;
  };
}

/** `what` happened, in the few words of the table of outcomes; for the log. */
function unavailable(message: string, what?: string): Refusal {
  const cause = what === undefined ? {} : { cause: Object.assign(new Error(what), { code: what }) };
  return new Refusal('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, ...cause });
}
