import { createAwaitVerdict } from '../../src/activities/awaitVerdict.ts';
import { createSignCfe } from '../../src/activities/signCfe.ts';
import { createAuthority } from '../../src/activities/steps/authority.ts';
import { createSubmitCfe } from '../../src/activities/submitCfe.ts';
import { listAuthorityCertificates } from '../../src/db/authorityCertificates.ts';
import type { Orm } from '../../src/db/orm.ts';
import { createDgiClient } from '../../src/dgi/client.ts';
import { createSigner } from '../../src/dgi/sign.ts';
import type { DgiCredentials } from '../../src/dgi/wsSecurity.ts';
import { writeCfe } from '../../src/dgi/xml/cfe.ts';
import { createBreakers } from '../../src/gate/breakers.ts';
import { createGate } from '../../src/gate/gate.ts';
import { AUTHORITY_RUT } from './dgi/answers.ts';

/** The three steps of a CFE on the real client, whose every endpoint is at `url`; one company's key signs all. */
export function authorityActivities(of: {
  orm: Orm;
  url: string;
  credentials: DgiCredentials;
  clock?: () => Date;
  breakersClock?: () => Date;
}) {
  const { orm, url, credentials, clock = () => new Date(), breakersClock = clock } = of;
  const endpoint = { receptionUrl: url, consultationUrl: url };
  const breakers = createBreakers({ orm, clock: breakersClock });
  const client = createDgiClient({
    endpoints: { production: endpoint, sandbox: endpoint },
    timeouts: { connectSeconds: 5, answerSeconds: 10 },
    soapHash: 'sha256',
    breakers,
    clock,
    trustedSigners: async () =>
      new Set((await listAuthorityCertificates(orm.em.fork())).map(({ fingerprint }) => fingerprint)),
  });
  const signer = createSigner({ ...credentials, hash: 'sha256' });
  const deps = {
    orm,
    clock,
    outbox: { dispatchSoon() {} },
    authority: createAuthority({ client, orm, privateKeyOf: () => credentials.privateKey }),
    authorityRut: { production: AUTHORITY_RUT, sandbox: AUTHORITY_RUT },
    pollLongestSeconds: 1,
    patienceSeconds: 60,
  };
  return {
    signCfe: createSignCfe({ ...deps, signDocument: (document) => signer.sign(writeCfe(document)) }),
    submitCfe: createSubmitCfe({ ...deps, gate: createGate({ orm, sendsPerSecond: 100, breakers }) }),
    awaitVerdict: createAwaitVerdict(deps),
  };
}
