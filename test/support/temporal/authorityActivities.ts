import { createAuthority } from '../../../src/activities/authority/authority.ts';
import { createTakeToVerdict } from '../../../src/activities/authority/takeToVerdict.ts';
import { listAuthorityCertificates } from '../../../src/db/authority/authorityCertificates.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { createDgiClient } from '../../../src/dgi/client.ts';
import { createSigner } from '../../../src/dgi/sign.ts';
import type { DgiCredentials } from '../../../src/dgi/wsSecurity.ts';
import { writeCfe } from '../../../src/dgi/xml/cfe.ts';
import { createBreakers } from '../../../src/gate/breakers.ts';
import { createGate } from '../../../src/gate/gate.ts';
import { idleGatekeeper, idleOutbox } from '../commandDeps.ts';
import { AUTHORITY_RUT } from '../dgi/answers.ts';

/** The way of a sobre to its verdicts on the real client, whose every endpoint is at `url`; one company's key signs all. */
export function authorityActivities(of: {
  orm: Orm;
  url: string;
  credentials: DgiCredentials;
  clock?: () => Date;
  breakersClock?: () => Date;
  /** PostgreSQL's unless told. */
  gateClock?: () => Date;
  /** Longest pause between two questions. */
  pollLongestSeconds?: number;
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
    outbox: idleOutbox,
    gatekeeper: idleGatekeeper,
    authority: createAuthority({ client, orm, privateKeyOf: () => credentials.privateKey }),
    authorityRut: { production: AUTHORITY_RUT, sandbox: AUTHORITY_RUT },
    pollLongestSeconds: of.pollLongestSeconds ?? 1,
    patienceSeconds: 60,
  };
  return {
    takeToVerdict: createTakeToVerdict({
      ...deps,
      signDocument: (document) => signer.sign(writeCfe(document)),
      gate: createGate({
        orm,
        sendsPerSecond: 100,
        questionsPerSecond: 100,
        breakers,
        ...(of.gateClock ? { clock: of.gateClock } : {}),
      }),
    }),
  };
}
