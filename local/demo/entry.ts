/** `npm run demo -- entry`: how a company that issues on paper becomes an issuer, as its developer and its owner live it. */
import { randomInt } from 'node:crypto';
import got from 'got';
import type { CfeClient, CfeRequest } from '../../sdk/src/index.ts';
import type { Customer } from './customer.ts';
import { DEMO_ENTERPRISE, enterByLogin, onboard } from './onboarding.ts';
import { readDocuments } from './receipts.ts';
import { until } from './until.ts';

/** How long the run of 312 receipts with its report may take. */
const RUN_SECONDS = 150;
const RECEIPTS = 312;
/** Weights of a RUT's first eleven digits (docs/authority/codes.md#check-digits). */
const WEIGHTS = [4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/** What the API answers about a test run, as far as the demo looks at it. */
interface TestRun {
  status: string;
  day: string;
  types: { cfe_type: string; received: number; rejected: number }[];
  report: { status: string | null; sequence: number | null };
  checklist: { code: string; text: string; done: boolean }[];
  failure: { message: string } | null;
}

/** Makes a new company an issuer against the simulator, step by step; throws at the first step that is not as meant. */
export async function enterTheRegime(
  customer: Customer,
  of: { client: CfeClient; simulatorUrl: string; today: string; say: (line: string) => void },
): Promise<void> {
  const { client, simulatorUrl, today, say } = of;
  const rut = inventRut();
  const path = `enterprises/${rut}`;

  console.log('\n1. The company, with a user for the tests (permission HOMO):');
  say(`create the enterprise ${rut}`);
  await customer.send('POST', 'enterprises', { rut, ...DEMO_ENTERPRISE });
  await enterByLogin(customer, { simulatorUrl, rut, permissions: ['HOMO'], say });

  console.log('\n2. The test of Testing, in the sandbox, with CAEs invented by the authority’s rule:');
  say(`start the test run: POST /v1/${path}/homologation {"set": "TESTING"}`);
  await customer.send('POST', `${path}/homologation`, { set: 'TESTING' });
  const run = await finishedRun(customer, path);
  console.table(
    run.types.map(({ cfe_type, received, rejected }) => ({ type: cfe_type, received, rejected })),
  );
  const received = run.types.reduce((sum, type) => sum + type.received, 0);
  if (run.status !== 'READY_TO_PROCESS' || received !== RECEIPTS) {
    throw new Error(`the test run ended ${run.status}, ${received} received: ${run.failure?.message ?? ''}`);
  }
  say(`${received} receipts received, and the report of ${run.day} (sequence ${run.report.sequence})`);

  console.log('\n3. At the authority’s portal, by a person; the simulator compares the report by itself:');
  say('Consultas → Envíos realizados → the report → «Procesar Reporte»');
  await until('the processed report', RUN_SECONDS, async () => {
    const { report, checklist } = await customer.get<TestRun>(`${path}/homologation`);
    return report.status === 'CONSISTENT' && checklist.some(({ code, done }) => code === 'process' && done);
  });
  say('the report is processed');
  for (const { text } of run.checklist.filter(({ code, done }) => !done && code !== 'process')) say(text);

  console.log('\n4. The authority says yes (permission PROD); certificate, CAE, plan and start date:');
  await onboard(customer, { simulatorUrl, typeCodes: [101], rut, say });

  console.log('\n5. The first receipt in production:');
  const [text = ''] = readDocuments();
  const { cfe_id } = await client.issue(rut, JSON.parse(text.replaceAll('{today}', today)) as CfeRequest);
  const cfe = await client.verdict(rut, cfe_id, { waitSeconds: 60 });
  say(`${cfe.cfe_id}, number ${cfe.serie}-${cfe.numero}: ${cfe.cfe_status}`);
  if (cfe.cfe_status !== 'ACCEPTED') throw new Error(`the first receipt is ${cfe.cfe_status}`);
  const page = await got(cfe.receipt_url, { retry: { limit: 0 }, timeout: { request: 20_000 } }).text();
  for (const shown of [DEMO_ENTERPRISE.legal_name, rut]) {
    if (!page.includes(shown)) throw new Error(`the page of the receipt does not show ${shown}`);
  }
  say(`its page, as the receiver sees it: ${cfe.receipt_url}`);
}

/** Waits for the end of the test run; tells how far it is. */
async function finishedRun(customer: Customer, path: string): Promise<TestRun> {
  return until('the end of the test run', RUN_SECONDS, async () => {
    const run = await customer.get<TestRun>(`${path}/homologation`);
    return !['RUNNING', 'REPORTING'].includes(run.status) && run;
  });
}

/** A RUT that no earlier demo used: each entry is that of a new company. */
function inventRut(): string {
  for (;;) {
    const digits = `21${String(randomInt(1_000_000)).padStart(6, '0')}001`;
    const rest = WEIGHTS.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0) % 11;
    if (rest !== 1) return `${digits}${rest === 0 ? 0 : 11 - rest}`;
  }
}
