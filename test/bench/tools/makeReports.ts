/** Makes signed reports as of the database; told by standard input which. For the benchmark `reports`. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openOrm } from '../../../src/db/orm.ts';
import { readReportDay } from '../../../src/db/reports/reportDay.ts';
import { createSigner } from '../../../src/dgi/sign.ts';
import { writeReport } from '../../../src/dgi/xml/report.ts';

const { databaseUrl, date, signedAt, atATime, ruts, ...credentials } = JSON.parse(
  readFileSync(0, 'utf8'),
) as {
  databaseUrl: string;
  date: string;
  signedAt: string;
  /** Reports made side by side, as activities of one worker would. */
  atATime: number;
  ruts: string[];
  /** PKCS #8 and DER, base64. */
  privateKey: string;
  certificate: string;
};
const der = Buffer.from(credentials.privateKey, 'base64');
const certificateDer = Buffer.from(credentials.certificate, 'base64');
const orm = await openOrm({ databaseUrl, pool: atATime });
let numbers = 0;

async function make(rut: string): Promise<void> {
  const { sums } = await readReportDay(orm.em, { rut, environment: 'production', date });
  const summary = sums.close({ signedOn: signedAt.slice(0, 10), rateOf: () => '38.512' });
  numbers += summary.used;
  // Opened each time, as a company's key is used once a night.
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const unsigned = writeReport({ rut, date, idEmisor: 1, sequence: 1, signedAt }, summary);
  createSigner({ privateKey: key, certificateDer, hash: 'sha256' }).sign(unsigned);
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
const before = process.memoryUsage().rss;
const started = performance.now();
const waiting = ruts.values();
await Promise.all(
  Array.from({ length: atATime }, async () => {
    for (const rut of waiting) await make(rut);
  }),
);
const seconds = ((performance.now() - started) / 1_000).toFixed(1);
// In kilobytes, as the system has seen it.
const peak = process.resourceUsage().maxRSS * 1_024;
console.log(
  `${numbers.toLocaleString('en')} numbers, ${seconds} s, ${megabytes(before)} MB before, at most ${megabytes(peak)} MB`,
);
await orm.close(true);
