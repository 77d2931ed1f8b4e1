import { readFileSync } from 'node:fs';
import type { readConfig } from '../config.ts';
import { listAuthorityCertificates } from '../db/authorityCertificates.ts';
import type { Orm } from '../db/orm.ts';
import { type AuthorityCall, createDgiClient, type DgiClient } from '../dgi/client.ts';
import { createBreakers } from '../gate/breakers.ts';

/** What a client of the authority is made from. */
export const DGI_VARIABLES = [
  'CFE_DGI_PRODUCTION_RECEPTION_URL',
  'CFE_DGI_PRODUCTION_CONSULTATION_URL',
  'CFE_DGI_PRODUCTION_REGISTRY_URL',
  'CFE_DGI_PRODUCTION_RUT',
  'CFE_DGI_SANDBOX_RECEPTION_URL',
  'CFE_DGI_SANDBOX_CONSULTATION_URL',
  'CFE_DGI_SANDBOX_RUT',
  'CFE_DGI_CONNECT_SECONDS',
  'CFE_DGI_ANSWER_SECONDS',
  'CFE_DGI_SOAP_HASH',
  'CFE_DGI_CA_FILE',
] as const;

type DgiConfig = ReturnType<typeof readConfig<(typeof DGI_VARIABLES)[number]>>;

/** A client of the authority as it is configured; `answerSeconds` shortens its patience, `onCall` hears of every call. */
export function openDgiClient(
  config: DgiConfig,
  orm: Orm,
  {
    answerSeconds = config.CFE_DGI_ANSWER_SECONDS,
    onCall,
  }: { answerSeconds?: number; onCall?: (call: AuthorityCall) => void } = {},
): DgiClient {
  return createDgiClient({
    endpoints: {
      production: {
        receptionUrl: config.CFE_DGI_PRODUCTION_RECEPTION_URL,
        consultationUrl: config.CFE_DGI_PRODUCTION_CONSULTATION_URL,
        registryUrl: config.CFE_DGI_PRODUCTION_REGISTRY_URL,
        authorityRut: config.CFE_DGI_PRODUCTION_RUT,
      },
      sandbox: {
        receptionUrl: config.CFE_DGI_SANDBOX_RECEPTION_URL,
        consultationUrl: config.CFE_DGI_SANDBOX_CONSULTATION_URL,
        authorityRut: config.CFE_DGI_SANDBOX_RUT,
      },
    },
    timeouts: { connectSeconds: config.CFE_DGI_CONNECT_SECONDS, answerSeconds },
    soapHash: config.CFE_DGI_SOAP_HASH,
    breakers: createBreakers({ orm }),
    onCall,
    trustedSigners: async () =>
      new Set((await listAuthorityCertificates(orm.em.fork())).map(({ fingerprint }) => fingerprint)),
    ...(config.CFE_DGI_CA_FILE ? { ca: readFileSync(config.CFE_DGI_CA_FILE, 'utf8') } : {}),
  });
}
