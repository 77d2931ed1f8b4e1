import { readFileSync } from 'node:fs';
import type { AuthorityRuts } from '../commands/authority/addAuthorityCertificates.ts';
import type { readConfig } from '../config.ts';
import { trustedSigners } from '../db/authority/authorityCertificates.ts';
import type { Orm } from '../db/orm.ts';
import type { Breakers } from '../dgi/calls.ts';
import { type AuthorityCall, createDgiClient, type DgiClient } from '../dgi/client.ts';
import { createBreakers } from '../gate/breakers.ts';

export const AUTHORITY_RUT_VARIABLES = ['CFE_DGI_PRODUCTION_RUT', 'CFE_DGI_SANDBOX_RUT'] as const;

export const authorityRutsOf = (
  config: ReturnType<typeof readConfig<(typeof AUTHORITY_RUT_VARIABLES)[number]>>,
): AuthorityRuts => ({ production: config.CFE_DGI_PRODUCTION_RUT, sandbox: config.CFE_DGI_SANDBOX_RUT });

/** Variables that configure the authority's client. */
export const DGI_VARIABLES = [
  'CFE_DGI_PRODUCTION_RECEPTION_URL',
  'CFE_DGI_PRODUCTION_CONSULTATION_URL',
  'CFE_DGI_PRODUCTION_REGISTRY_URL',
  'CFE_DGI_SANDBOX_RECEPTION_URL',
  'CFE_DGI_SANDBOX_CONSULTATION_URL',
  'CFE_DGI_CONNECT_SECONDS',
  'CFE_DGI_ANSWER_SECONDS',
  'CFE_DGI_SOAP_HASH',
  'CFE_DGI_CA_FILE',
] as const;

type DgiConfig = ReturnType<typeof readConfig<(typeof DGI_VARIABLES)[number]>>;

/**
 * Opens the configured client of the authority. `answerSeconds` shortens its timeout, `onCall` is called for
 * every call, `clock` is the machine's by default.
 */
export function openDgiClient(
  config: DgiConfig,
  orm: Orm,
  {
    answerSeconds = config.CFE_DGI_ANSWER_SECONDS,
    onCall,
    breakers = createBreakers({ orm }),
    clock,
  }: {
    answerSeconds?: number;
    onCall?: (call: AuthorityCall) => void;
    breakers?: Breakers;
    clock?: () => Date;
  } = {},
): DgiClient {
  return createDgiClient({
    endpoints: {
      production: {
        receptionUrl: config.CFE_DGI_PRODUCTION_RECEPTION_URL,
        consultationUrl: config.CFE_DGI_PRODUCTION_CONSULTATION_URL,
        registryUrl: config.CFE_DGI_PRODUCTION_REGISTRY_URL,
      },
      sandbox: {
        receptionUrl: config.CFE_DGI_SANDBOX_RECEPTION_URL,
        consultationUrl: config.CFE_DGI_SANDBOX_CONSULTATION_URL,
      },
    },
    timeouts: { connectSeconds: config.CFE_DGI_CONNECT_SECONDS, answerSeconds },
    soapHash: config.CFE_DGI_SOAP_HASH,
    breakers,
    onCall,
    ...(clock ? { clock } : {}),
    trustedSigners: (environment) => trustedSigners(orm.em.fork(), environment),
    ...(config.CFE_DGI_CA_FILE ? { ca: readFileSync(config.CFE_DGI_CA_FILE, 'utf8') } : {}),
  });
}
