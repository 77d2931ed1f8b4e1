import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import got from 'got';
import { environment, readConfig } from '../config.ts';
import { type CfeView, logIn, until } from '../demo/customer.ts';
import { DEMO_RUT, onboard } from '../demo/onboarding.ts';
import { type DemoReceiver, startReceiver } from '../demo/receiver.ts';
import { CFE_TYPES, type CfeType } from '../domain/cfeTypes.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import type { StackInfo } from '../stack/stackFile.ts';
import { LOCAL_DEVELOPER } from './prepare.ts';
import { findRunningStack, startLocalStack } from './stack.ts';

/** The documents that are issued, in this order; `{today}` and `{TYPE}` (cfe_id of that type) are filled in. */
const DOCUMENTS = join(import.meta.dirname, '../../test/fixtures/demo');
const VERDICT_SECONDS = 60;
/** What the demo's own server is told of. */
const EVENTS = ['efactura.login', 'enterprise.updated', 'cfe.updated'];

const say = (line: string): void => console.log(`  ${line}`);
const { CFE_DATA_DIR: dataDir } = readConfig(['CFE_DATA_DIR']);

const running = findRunningStack(dataDir);
const stack = running ? { info: running, stop: async () => {} } : await startLocalStack();
let outcome = 1;
try {
  outcome = await withReceiver(stack.info, (receiver) => demo(stack.info, receiver));
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  await stack.stop();
}
process.exit(outcome);

/** Onboards, issues every document and follows all to their verdict; 0 when each ended as meant. */
async function demo(info: StackInfo, receiver: DemoReceiver): Promise<number> {
  console.log('\nOnboarding, as a customer does it:');
  const customer = await logIn(info.base_url, info.live_api_key);
  const documents = readdirSync(DOCUMENTS)
    .sort()
    .map((name) => readFileSync(join(DOCUMENTS, name), 'utf8'));
  const types = documents.map((text) => (JSON.parse(text) as { cfe_type: CfeType }).cfe_type);
  const codes = [...new Set(types.map((type) => CFE_TYPES[type].code))];
  await onboard(customer, info.simulator_url, codes, say, receiver);

  console.log('\nIssuing:');
  const today = montevideoDate(new Date());
  const started = Date.now();
  const issued: { cfe: CfeView; at: number }[] = [];
  const idOfType = new Map<string, string>();
  for (const text of documents) {
    const filled = text.replace(/\{(today|[A-Z_]+)\}/g, (_, key: string) =>
      key === 'today' ? today : (idOfType.get(key) ?? ''),
    );
    const cfe = await customer.send<CfeView>('POST', `enterprises/${DEMO_RUT}/cfes`, JSON.parse(filled));
    if (!idOfType.has(cfe.cfe_type)) idOfType.set(cfe.cfe_type, cfe.cfe_id);
    issued.push({ cfe, at: Date.now() });
    say(`${cfe.cfe_id} has number ${cfe.serie}-${cfe.numero}`);
  }

  console.log('\nFollowing them to their verdict:');
  const ended = await Promise.all(
    issued.map(async ({ cfe, at }) => {
      const last = await until(`the verdict on ${cfe.cfe_id}`, VERDICT_SECONDS, async () => {
        const { items } = await customer.get<{ items: CfeView[] }>(
          `enterprises/${DEMO_RUT}/cfes/${cfe.cfe_id}`,
        );
        const [now] = items;
        return now && !['PENDING', 'RECEIVED'].includes(now.cfe_status) ? now : undefined;
      });
      return { ...last, seconds: (Date.now() - at) / 1_000 };
    }),
  );
  console.table(
    ended.map(({ cfe_id, cfe_type, serie, numero, total_amount, currency, cfe_status, seconds }) => ({
      cfe_id,
      type: cfe_type,
      serie,
      numero,
      total: `${currency} ${total_amount.toFixed(2)}`,
      verdict: cfe_status,
      seconds: seconds.toFixed(1),
    })),
  );

  await showEvents(
    receiver,
    ended.map(({ cfe_id }) => cfe_id),
  );

  const folder = join(dataDir, 'demo');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { cfe_id, cfe_type_code, serie, numero } of ended) {
    const at = `portal/ledger/${DEMO_RUT}/${cfe_type_code}/${serie}/${numero}`;
    writeFileSync(
      join(folder, `${cfe_id}.xml`),
      await got.get(at, { prefixUrl: info.simulator_url }).buffer(),
    );
  }
  console.log(`Signed XML, as the authority received it: ${folder}/`);
  if (info.temporal_ui_url !== null) {
    const query = encodeURIComponent(`EnterpriseRut = '${DEMO_RUT}' AND CfeId = '${ended[0]?.cfe_id ?? ''}'`);
    console.log(`In the Temporal UI: ${info.temporal_ui_url}/namespaces/default/workflows?query=${query}`);
  }

  const accepted = ended.filter((cfe) => cfe.cfe_status === 'ACCEPTED').length;
  const rejected = ended.filter((cfe) => cfe.cfe_status === 'REJECTED').length;
  const asMeant = accepted === documents.length - 1 && ended.at(-1)?.cfe_status === 'REJECTED';
  const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
  console.log(
    `\n${words[accepted]} accepted, ${words[rejected]} rejected${asMeant ? ' as meant' : ': NOT as meant'} (${((Date.now() - started) / 1_000).toFixed(1)} s)`,
  );
  return asMeant ? 0 : 1;
}

/** Runs `work` with a receiver of events that the demo's account is told of; takes the webhook away afterwards. */
async function withReceiver<T>(info: StackInfo, work: (receiver: DemoReceiver) => Promise<T>): Promise<T> {
  const receiver = await startReceiver({
    certificatePem: readFileSync(info.ca_file, 'utf8'),
    keyPem: readFileSync(info.ca_key_file, 'utf8'),
  });
  try {
    // What a demo that was interrupted left behind.
    for (const old of await cfe<{ webhook_id: string; url: string }[]>('webhook', 'list', LOCAL_DEVELOPER)) {
      if (/^https:\/\/127\.0\.0\.1:\d+\/demo$/.test(old.url)) await cfe('webhook', 'remove', old.webhook_id);
    }
    const { webhook_id, secret } = await cfe<{ webhook_id: string; secret: string }>(
      'webhook',
      'add',
      LOCAL_DEVELOPER,
      '--url',
      receiver.url,
      ...EVENTS.flatMap((event) => ['--event', event]),
    );
    receiver.trust(secret);
    try {
      return await work(receiver);
    } finally {
      await cfe('webhook', 'remove', webhook_id);
    }
  } finally {
    await receiver.close();
  }
}

/** What the command line answers to these arguments. */
async function cfe<T>(...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'cli.ts'), ...args, '--json'],
    { env: { ...environment, CFE_DATA_DIR: resolve(dataDir) } },
  );
  return JSON.parse(stdout) as T;
}

/** Waits until the receiver was told of every verdict, and shows how often it was told of what. */
async function showEvents({ events, url }: DemoReceiver, cfeIds: readonly string[]): Promise<void> {
  const settled = (id: string): boolean =>
    events.some(
      ({ data }) => data['cfe_id'] === id && !['PENDING', 'RECEIVED'].includes(String(data['status'])),
    );
  await until('the events of every verdict', 30, async () => cfeIds.every(settled) || undefined);
  console.log(`\nEvents at ${url}, each signed and verified:`);
  console.table(
    [...Map.groupBy(events, ({ event }) => event)].map(([event, { length }]) => ({ event, times: length })),
  );
}
