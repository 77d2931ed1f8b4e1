/**
 * `npm run demo`: takes an enterprise from nothing to its verdicts over public HTTP, on the local stack, then stops.
 * `npm run demo -- entry`: makes a company an issuer, from the authority's tests to its first production receipt.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CfeClient } from '../../sdk/src/index.ts';
import { processVariables } from '../../src/config.ts';
import { CFE_TYPES, type CfeType } from '../../src/domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../src/domain/values/montevideo.ts';
import { readConfig } from '../config.ts';
import { logIn } from '../demo/customer.ts';
import { enterTheRegime } from '../demo/entry.ts';
import { nameReceivers, savePdfs, showMails } from '../demo/mails.ts';
import { DEMO_RUT, onboard } from '../demo/onboarding.ts';
import { followAll, issueAll, readDocuments, saveXml, showEvents } from '../demo/receipts.ts';
import { type DemoReceiver, startReceiver } from '../demo/receiver.ts';
import { findRunningStack, startLocalStack } from '../stack/localStack.ts';
import { LOCAL_DEVELOPER } from '../stack/prepareStack.ts';
import type { StackInfo } from '../stack/stackFile.ts';

/** The events that the demo's own server asks for. */
const EVENTS = ['efactura.login', 'enterprise.updated', 'cfe.updated'];

const say = (line: string): void => console.log(`  ${line}`);
const { CFE_DATA_DIR: dataDir } = readConfig(['CFE_DATA_DIR']);

const [what, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (what !== undefined && what !== 'entry')) {
  console.error('Usage: npm run demo, or npm run demo -- entry');
  process.exit(2);
}

const running = findRunningStack(dataDir);
const stack = running ? { info: running, stop: async () => {} } : await startLocalStack();
let exitCode = 1;
try {
  exitCode =
    what === 'entry'
      ? await entry(stack.info)
      : await withReceiver(stack.info, (receiver) => demo(stack.info, receiver));
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  await stack.stop();
}
process.exit(exitCode);

/** Makes a new company an issuer; 0 once its first receipt is accepted. */
async function entry(info: StackInfo): Promise<number> {
  const started = Date.now();
  const { base_url: baseUrl, live_api_key: apiKey, simulator_url: simulatorUrl } = info;
  const client = new CfeClient({ baseUrl, apiKey });
  const today = montevideoDate(new Date());
  await enterTheRegime(await logIn(baseUrl, apiKey), { client, simulatorUrl, today, say });
  console.log(`\nThe company is an issuer (${((Date.now() - started) / 1_000).toFixed(1)} s)`);
  return 0;
}

/** Onboards, issues every document and follows all to their verdict; 0 when each ended as meant. */
async function demo(info: StackInfo, receiver: DemoReceiver): Promise<number> {
  console.log('\nOnboarding, as a customer does it:');
  const customer = await logIn(info.base_url, info.live_api_key);
  const documents = readDocuments();
  const types = documents.map((text) => (JSON.parse(text) as { cfe_type: CfeType }).cfe_type);
  const typeCodes = [...new Set(types.map((type) => CFE_TYPES[type].code))];
  await onboard(customer, { simulatorUrl: info.simulator_url, typeCodes, say, receiver });

  await nameReceivers(customer, say);

  console.log('\nIssuing:');
  const started = Date.now();
  const client = new CfeClient({ baseUrl: info.base_url, apiKey: info.live_api_key });
  const issued = await issueAll(client, documents, { today: montevideoDate(new Date()), say });
  console.log('\nFollowing them to their verdict:');
  const decided = await followAll(client, issued);
  await showEvents(receiver, decided);
  await showMails(customer, { simulatorUrl: info.simulator_url, since: new Date(started), cfes: decided });

  const folder = join(dataDir, 'demo');
  await saveXml(folder, info.simulator_url, decided);
  await savePdfs(customer, folder, decided);
  console.log(`Signed XML, as the authority received it, and the printed forms: ${folder}/`);
  if (info.temporal_ui_url !== null) {
    const query = encodeURIComponent(
      `EnterpriseRut = '${DEMO_RUT}' AND CfeId = '${decided[0]?.cfe_id ?? ''}'`,
    );
    console.log(`In the Temporal UI: ${info.temporal_ui_url}/namespaces/default/workflows?query=${query}`);
  }

  const accepted = decided.filter((cfe) => cfe.cfe_status === 'ACCEPTED').length;
  const rejected = decided.filter((cfe) => cfe.cfe_status === 'REJECTED').length;
  const asMeant = accepted === documents.length - 1 && decided.at(-1)?.cfe_status === 'REJECTED';
  const words = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
  console.log(
    `\n${words[accepted]} accepted, ${words[rejected]} rejected${asMeant ? ' as meant' : ': NOT as meant'} (${((Date.now() - started) / 1_000).toFixed(1)} s)`,
  );
  return asMeant ? 0 : 1;
}

/** Runs `work` with a receiver that hears of the demo account's events; removes the webhook afterwards. */
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

/** Runs the command line with these arguments; what it answers. */
async function cfe<T>(...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'cfe.ts'), ...args, '--json'],
    { env: { ...processVariables, CFE_DATA_DIR: resolve(dataDir) } },
  );
  return JSON.parse(stdout) as T;
}
