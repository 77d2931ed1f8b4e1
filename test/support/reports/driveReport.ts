/** A program: takes the report of one day as far as it goes, as its workflow would; for tests that kill it on the way. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createAskReport } from '../../../src/activities/reports/askReport.ts';
import { createPrepareReport } from '../../../src/activities/reports/prepareReport.ts';
import { createSubmitReport } from '../../../src/activities/reports/submitReport.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { createDgiClient } from '../../../src/dgi/client.ts';
import { createSigner } from '../../../src/dgi/sign.ts';
import { writeReport } from '../../../src/dgi/xml/report.ts';
import { armFailpoints } from '../../../src/failpoints.ts';
import { createReportSlots } from '../../../src/gate/reportSlots.ts';
import { asActivity } from '../temporal/activityContext.ts';

/** What the program is told, as JSON in DRIVE_REPORT. */
export interface DriveReport {
  readonly databaseUrl: string;
  readonly simulatorUrl: string;
  readonly authorityPems: readonly string[];
  readonly key: { rut: string; environment: 'production'; date: string };
  readonly privateKey: string;
  readonly certificate: string;
}

const say = (word: string): boolean => process.stdout.write(`${word}\n`);
const given = JSON.parse(process.env['DRIVE_REPORT'] ?? '') as DriveReport;
armFailpoints();
const orm = await openOrm({
  databaseUrl: given.databaseUrl,
  pool: 3,
});
const endpoints = (environment: string) => ({
  receptionUrl: `${given.simulatorUrl}/${environment}/ws_efactura`,
  consultationUrl: `${given.simulatorUrl}/${environment}/ws_consultas`,
});
const signers = new Set(
  given.authorityPems.map((pem) => new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase()),
);
const privateKey = createPrivateKey(given.privateKey);
const certificateDer = Buffer.from(given.certificate, 'base64');
const signer = createSigner({ privateKey, certificateDer, hash: 'sha256' });
const deps = {
  orm,
  clock: () => new Date(),
  outbox: { scheduleDispatch(): void {} },
  client: createDgiClient({
    endpoints: { production: endpoints('production'), sandbox: endpoints('sandbox') },
    timeouts: { connectSeconds: 20, answerSeconds: 60 },
    soapHash: 'sha256',
    trustedSigners: async () => signers,
  }),
  privateKeyOf: () => privateKey,
  patienceSeconds: 3_600,
  latest: '16:00',
};
const prepare = createPrepareReport({
  ...deps,
  askAfterSeconds: 1,
  lookUpRates: async () => [],
  signReport: (heading, summary) => signer.sign(writeReport(heading, summary)).xml,
});
const submit = createSubmitReport({ ...deps, slots: createReportSlots({ orm, sendsPerSecond: 100 }) });
const ask = createAskReport(deps);

for (let rounds = 0; ; rounds += 1) {
  if (rounds > 20) throw new Error('the report comes to no end');
  const next = await asActivity(() => prepare(given.key));
  if (next.kind === 'ready') await asActivity(() => submit(given.key));
  else if (next.kind === 'ask') {
    const asked = await asActivity(() => ask(given.key));
    if (asked.kind !== 'asked' || asked.status !== 'RECEIVED') {
      say(asked.kind === 'asked' ? asked.status : asked.reason);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  } else {
    say(next.kind === 'ended' ? next.status : JSON.stringify(next));
    break;
  }
}
await orm.close(true);
