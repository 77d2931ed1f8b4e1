import { createAuthorityWatch } from '../api/authorityWatch.ts';
import type { ApiDeps } from '../api/deps.ts';
import type { readConfig } from '../config.ts';
import { createApiKeys } from '../crypto/apiKeys.ts';
import { createRequestHash } from '../crypto/requestHash.ts';
import { createSealer } from '../crypto/sealed.ts';
import { createTokens } from '../crypto/tokens.ts';
import type { Orm } from '../db/orm.ts';
import type { AuthorityCall } from '../dgi/client.ts';
import { drawReceipt } from '../print/drawReceipt.ts';
import { createReceiptPdfs } from '../print/receiptPdfs.ts';
import { businessClock, CLOCK_VARIABLES } from './businessClock.ts';
import { CAP_VARIABLES, capsOf } from './caps.ts';
import { openRevocationLookUp, readCertificateAuthorities } from './certificateAuthorities.ts';
import { paceOf } from './pace.ts';
import { LOOK_UP_VARIABLES, openRutLookUp } from './rutLookUp.ts';
import { TEST_KIT_VARIABLES, testKitOf } from './testKit.ts';

/** Variables that configure the handlers. */
export const API_VARIABLES = [
  ...LOOK_UP_VARIABLES,
  ...CAP_VARIABLES,
  ...CLOCK_VARIABLES,
  'CFE_SEALING_KEY',
  'CFE_PEPPER',
  'CFE_TOKEN_KEYS',
  'CFE_DGI_SENDS_PER_SECOND',
  ...TEST_KIT_VARIABLES,
  'CFE_PUBLIC_URL',
  'CFE_CHECKOUT_URL',
  'CFE_CERTIFICATE_CA_FILE',
  'CFE_WEBHOOK_LOCAL_CA_FILE',
] as const;

type ApiConfig = ReturnType<typeof readConfig<(typeof API_VARIABLES)[number]>>;

/** Creates the dependencies of the API's handlers; `onCall` is called for every call to the authority. */
export async function createApiDeps(
  config: ApiConfig,
  shared: Pick<ApiDeps, 'counters' | 'outbox' | 'logger' | 'verdicts'> & {
    orm: Orm;
    onCall: (call: AuthorityCall) => void;
  },
): Promise<ApiDeps> {
  const { onCall, ...deps } = shared;
  return {
    ...deps,
    clock: businessClock(config),
    realClock: () => new Date(),
    caps: capsOf(config),
    tokens: await createTokens(config.CFE_TOKEN_KEYS),
    sealer: createSealer(config.CFE_SEALING_KEY),
    apiKeys: createApiKeys(config.CFE_PEPPER),
    requestHash: createRequestHash(config.CFE_PEPPER),
    testKit: testKitOf(config),
    certificateAuthorities: readCertificateAuthorities(config),
    lookUpRevocation: openRevocationLookUp(config),
    authority: createAuthorityWatch(shared),
    receiptPdfs: createReceiptPdfs({ draw: drawReceipt }),
    publicUrl: config.CFE_PUBLIC_URL,
    checkoutUrl: config.CFE_CHECKOUT_URL,
    pace: paceOf(config),
    lookUpRut: await openRutLookUp(config, deps.orm, onCall),
  };
}
