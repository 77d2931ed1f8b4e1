/**
 * A process of its own that writes the file of an export, and stands still before it stores its sixth part, for tests that kill
 * it. Arguments: the database, the export's id.
 */
import { createWriteExport } from '../../../src/activities/receipts/writeExport.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { asActivity } from '../temporal/activityContext.ts';

const STORED = 5;
const [databaseUrl = '', exportId = ''] = process.argv.slice(2);
const orm = await openOrm({ databaseUrl, pool: 4 });
const print = async (): Promise<Uint8Array> => Buffer.from('%PDF');
let parts = 0;
/** Asked once for each part, right before it is stored. */
const clock = (): Date => {
  parts += 1;
  if (parts > STORED) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  return new Date();
};
await asActivity(() => createWriteExport({ orm, clock, print, partReceipts: 20 })(exportId));
