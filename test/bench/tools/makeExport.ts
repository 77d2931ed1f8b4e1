/** Makes the file of an export. Arguments: the database, the export's id. For the benchmark `exports`. */
import { createWriteExport } from '../../../src/activities/receipts/writeExport.ts';
import { openOrm } from '../../../src/db/orm.ts';
import type { ExportResult } from '../../../src/domain/authority/activityResults.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';

const [databaseUrl = '', exportId = ''] = process.argv.slice(2);
const orm = await openOrm({ databaseUrl, pool: 4 });
const print = (): Promise<Uint8Array> => Promise.reject(new Error('nothing is printed here'));
const write = createWriteExport({ orm, clock: () => new Date(), print });
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
const before = process.memoryUsage().rss;
const started = performance.now();
let result: ExportResult;
do {
  result = await asActivity(() => write(exportId));
} while (result.kind === 'goesOn');
const seconds = ((performance.now() - started) / 1_000).toFixed(1);
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
console.log(
  `${result.done.toLocaleString('en')} receipts, ${seconds} s, ${((userCPUTime + systemCPUTime) / 1e6).toFixed(1)} s of processor, ${megabytes(before)} MB before, at most ${megabytes(maxRSS * 1_024)} MB`,
);
await orm.close(true);
