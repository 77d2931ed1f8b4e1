/** The receipts of the demo: issued in order, followed to their verdicts, shown, and kept as the authority has them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import got from 'got';
import type { Cfe, CfeClient, CfeRequest } from '../../sdk/src/index.ts';
import { DEMO_RUT } from './onboarding.ts';
import type { DemoReceiver } from './receiver.ts';
import { until } from './until.ts';

const FOLDER = join(import.meta.dirname, 'documents');
/** How long the receiver's server may take to hear of every verdict. */
const EVENTS_SECONDS = 120;
const VERDICT_SECONDS = 120;

/** The documents to issue, in this order, as JSON texts; `{today}` and `{TYPE}` (cfe_id of that type) are filled in later. */
export const readDocuments = (): string[] =>
  readdirSync(FOLDER)
    .sort()
    .map((name) => readFileSync(join(FOLDER, name), 'utf8'));

/** A CFE, and when it was issued, in milliseconds of the epoch. */
interface Issued {
  cfe: Cfe;
  at: number;
}

/** Issues the documents one after the other; `today` is their date, `YYYY-MM-DD`. */
export async function issueAll(
  client: CfeClient,
  documents: readonly string[],
  { today, say }: { today: string; say: (line: string) => void },
): Promise<Issued[]> {
  const issued: Issued[] = [];
  const idOfType = new Map<string, string>();
  for (const text of documents) {
    const filled = text.replace(/\{(today|[A-Z_]+)\}/g, (_, key: string) =>
      key === 'today' ? today : (idOfType.get(key) ?? ''),
    );
    const cfe = await client.issue(DEMO_RUT, JSON.parse(filled) as CfeRequest);
    if (!idOfType.has(cfe.cfe_type)) idOfType.set(cfe.cfe_type, cfe.cfe_id);
    issued.push({ cfe, at: Date.now() });
    say(`${cfe.cfe_id} has number ${cfe.serie}-${cfe.numero}`);
  }
  return issued;
}

/** Waits for every verdict and shows them as a table; the CFEs as they are then. */
export async function followAll(client: CfeClient, issued: readonly Issued[]): Promise<Cfe[]> {
  const decided = await Promise.all(
    issued.map(async ({ cfe, at }) => {
      const last = await client.verdict(DEMO_RUT, cfe.cfe_id, { waitSeconds: VERDICT_SECONDS });
      return { ...last, seconds: (Date.now() - at) / 1_000 };
    }),
  );
  console.table(
    decided.map(({ cfe_id, cfe_type, serie, numero, total_amount, currency, cfe_status, seconds }) => ({
      cfe_id,
      type: cfe_type,
      serie,
      numero,
      total: `${currency} ${String(total_amount.round(2))}`,
      verdict: cfe_status,
      seconds: seconds.toFixed(1),
    })),
  );
  return decided;
}

/** Waits until the receiver has heard of every verdict, and shows how many events of each kind came. */
export async function showEvents({ events, url }: DemoReceiver, cfes: readonly Cfe[]): Promise<void> {
  const isHeardOf = ({ cfe_id }: Cfe): boolean =>
    events.some(
      ({ data }) => data['cfe_id'] === cfe_id && !['PENDING', 'RECEIVED'].includes(String(data['status'])),
    );
  await until('the events of every verdict', EVENTS_SECONDS, async () => cfes.every(isHeardOf));
  console.log(`\nEvents at ${url}, each signed and verified:`);
  console.table(
    [...Map.groupBy(events, ({ event }) => event)].map(([event, { length }]) => ({ event, times: length })),
  );
}

/** Writes each signed XML, as the simulator received it, to `folder`, in a file named by its cfe_id. */
export async function saveXml(folder: string, simulatorUrl: string, cfes: readonly Cfe[]): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { cfe_id, cfe_type_code, serie, numero } of cfes) {
    const at = `portal/ledger/${DEMO_RUT}/${cfe_type_code}/${serie}/${numero}`;
    writeFileSync(join(folder, `${cfe_id}.xml`), await got.get(at, { prefixUrl: simulatorUrl }).buffer());
  }
}
