import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import got from 'got';
import { type CfeView, type Customer, logIn } from '../../src/demo/customer.ts';
import type { StackInfo } from '../../src/stack/stackFile.ts';
import { until } from './until.ts';

const CHECKOUT = join(import.meta.dirname, '../..');

export interface TestStack {
  /** What stack.json says now. */
  info(): StackInfo;
  dataDir: string;
  /** A customer with the stack's live key. */
  customer: Customer;
  /** The simulator's ledger of a RUT. */
  ledger(rut: string): Promise<LedgerRow[]>;
  stop(): Promise<void>;
}

export interface LedgerRow {
  cfe_type_code: string;
  serie: string;
  numero: number;
  verdict: 'AE' | 'BE' | 'CE' | null;
  times_received: number;
  received_at: string;
  sha256: string;
}

/**
 * `npm start` as a process of its own, on free ports, with a data folder that is gone afterwards; one that
 * CFE_DATA_DIR names stays. With CFE_TEST_STACK_TEMPORAL it works on the Temporal server at that address, in a
 * namespace of its own (`npm run test:production-temporal`).
 */
export async function startTestStack(environment: Record<string, string> = {}): Promise<TestStack> {
  const given = environment['CFE_DATA_DIR'];
  const dataDir = given ?? mkdtempSync(join(tmpdir(), 'cfe-e2e-'));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main/stack.ts'], {
    cwd: CHECKOUT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...withoutOwn(process.env),
      ...(await temporalElsewhere()),
      CFE_DATA_DIR: dataDir,
      ...FREE_PORTS,
      ...environment,
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const file = join(dataDir, 'stack.json');
  await until('the stack', 90, async () => {
    if (child.exitCode !== null) throw new Error(`the stack ended: ${said}`);
    return existsSync(file) || undefined;
  });
  const info = (): StackInfo => JSON.parse(readFileSync(file, 'utf8')) as StackInfo;
  const { base_url, live_api_key } = info();
  return {
    info,
    dataDir,
    customer: await logIn(base_url, live_api_key),
    async ledger(rut) {
      const { items } = await got
        .get(`${info().simulator_url}/portal/ledger`, { searchParams: { rut } })
        .json<{ items: LedgerRow[] }>();
      return items;
    },
    async stop() {
      await endProcess(child);
      if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The variables by which a stack finds the Temporal server of CFE_TEST_STACK_TEMPORAL; none where that is not set. */
export async function temporalElsewhere(): Promise<Record<string, string>> {
  const address = process.env['CFE_TEST_STACK_TEMPORAL'];
  if (!address) return {};
  const { newNamespace } = await import('./temporal.ts');
  const connection = await Connection.connect({ address });
  try {
    return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: await newNamespace(connection, address) };
  } finally {
    await connection.close();
  }
}

export const FREE_PORTS = {
  CFE_API_PORT: '0',
  CFE_METRICS_PORT: '0',
  CFE_WORKER_METRICS_PORT: '0',
  CFE_POSTGRES_PORT: '0',
  CFE_TEMPORAL_PORT: '0',
  CFE_TEMPORAL_UI_PORT: '0',
  CFE_SIMULATOR_PORT: '0',
};

/** The environment without what names the services of the test run: this stack has its own. */
export function withoutOwn(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const {
    TEMPORAL_ADDRESS: _1,
    DATABASE_URL: _2,
    CFE_TEST_POSTGRES_URL: _3,
    NODE_OPTIONS: _4,
    ...rest
  } = environment;
  return rest;
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** The CFE once it has its verdict. */
export function verdictOf(customer: Customer, rut: string, cfeId: string, seconds = 60): Promise<CfeView> {
  return until(`the verdict on ${cfeId}`, seconds, async () => {
    const { items } = await customer.get<{ items: CfeView[] }>(`enterprises/${rut}/cfes/${cfeId}`);
    const [cfe] = items;
    return cfe && !['PENDING', 'RECEIVED'].includes(cfe.cfe_status) ? cfe : undefined;
  });
}

/** An e-Ticket over one line of 100 pesos and its VAT; `name` may hold a directive for the simulator. */
export const eTicket = (today: string, name = 'Café'): unknown => ({
  cfe_type: 'ETICKET',
  header: {
    doc_id: { emission_date: today, payment_method: 'CASH' },
    totals: {
      currency: 'UYU',
      exchange_rate: 1,
      tax_basic_net_amount: 100,
      tax_basic_amount: 22,
      total_amount: 122,
      pay_amount: 122,
      line_count: 1,
    },
  },
  details: [
    { line_number: 1, iva_type: 'BASIC_RATE', item_name: name, count: 1, unit_price: 100, item_amount: 100 },
  ],
});
