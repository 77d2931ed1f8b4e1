import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import got from 'got';
import { DEMO_ENTERPRISE, DEMO_RUT } from '../../local/demo/onboarding.ts';
import type { StackInfo } from '../../local/stack/stackFile.ts';
import { EXAMPLES_FILE, type Example, type Examples } from '../../src/api/openapi/examples.ts';
import { CFE_TYPES, type CfeType } from '../../src/domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../src/domain/values/montevideo.ts';
import type { Cli } from '../../test/support/cli.ts';
import { startTestStack } from '../../test/support/stacks.ts';
import { until } from '../../test/support/until.ts';

const DOCUMENTS = join(import.meta.dirname, '../../local/demo/documents');
const BIOME = join(import.meta.dirname, '../../node_modules/.bin/biome');
const ENTERPRISE = `enterprises/${DEMO_RUT}`;
const LOGIN = { username: 'demo', password: 'demo-portal-login' };
/** Texts from this length on are cut to it; a multiple of four keeps base64 what it is. */
const LONGEST = 400;
const SHORT = 64;

interface Answer {
  data?: unknown;
  error?: { code: string };
}

type Recorded = Record<'requests' | 'answers' | 'trials', Record<string, Example>>;
const operations: Record<string, Partial<Recorded>> = {};
const errors: Record<string, Answer> = {};

/** Texts made short, and pages of receipts at an address that is nobody's, not at that of the stack. */
const brief = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, part: unknown) =>
    typeof part === 'string'
      ? part
          .slice(0, part.length > LONGEST ? SHORT : LONGEST)
          .replace(/^http:\/\/[^/]+\/r\//, 'https://cfe.example/r/')
      : part,
  ) as unknown;

interface Recorder {
  as: (token: string) => void;
  send: (method: string, path: string, json?: unknown, headers?: object) => Promise<Answer>;
  /** Answers `data`; a refusal is a mistake of this tool. */
  record: (
    operation: string,
    title: readonly [name: string, summary: string],
    request: readonly [method: string, path: string, body?: unknown],
  ) => Promise<unknown>;
  /** Records the answer to a trial of that body (`validate_only`). */
  tryOut: Recorder['record'];
  refuse: (method: string, path: string, body?: unknown, headers?: object) => Promise<void>;
}

/** A customer whose requests are recorded where they carry the name of an operation. */
function recorder({ base_url, live_api_key }: StackInfo): Recorder {
  const api = got.extend({
    prefixUrl: base_url,
    headers: { 'x-api-key': live_api_key },
    retry: { limit: 0 },
    throwHttpErrors: false,
  });
  let token = '';

  const send: Recorder['send'] = async (method, path, json, headers = {}) =>
    JSON.parse(
      (
        await api(path, {
          method: method as 'GET',
          ...(json === undefined ? {} : { json }),
          headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
        })
      ).body,
    ) as Answer;

  return {
    as(newToken) {
      token = newToken;
    },
    send,
    async record(operation, [name, summary], [method, path, body]) {
      const answer = await send(method, path, body);
      if (answer.error) throw new Error(`${operation} answered ${JSON.stringify(answer.error)}`);
      const at = (operations[operation] ??= {});
      if (body !== undefined) (at.requests ??= {})[name] = { summary, value: brief(body) };
      (at.answers ??= {})[name] = { summary, value: brief(answer) };
      return answer.data;
    },
    async tryOut(operation, [name, summary], [method, path, body]) {
      const answer = await send(method, path, body);
      if (answer.error) throw new Error(`${operation} answered ${JSON.stringify(answer.error)}`);
      const at = (operations[operation] ??= {});
      (at.trials ??= {})[name] = { summary, value: brief(answer) };
      return answer.data;
    },
    async refuse(method, path, body, headers = {}) {
      const answer = await send(method, path, body, headers);
      if (!answer.error) throw new Error(`${method} ${path} was not refused`);
      errors[answer.error.code] = answer;
    },
  };
}

async function onboard(customer: Recorder, simulatorUrl: string): Promise<void> {
  const portal = got.extend({ prefixUrl: `${simulatorUrl}/portal`, retry: { limit: 0 } });
  const { record } = customer;
  const usual = ['usual', 'As a company usually does it'] as const;

  const token = (await record('createToken', ['usual', 'A token for an hour'], ['POST', 'tokens', {}])) as {
    access_token: string;
  };
  customer.as(token.access_token);
  // A token of a stack that is gone; cut, lest somebody looks for what it opens.
  const recorded = operations['createToken']?.answers?.['usual']?.value as { data: { access_token: string } };
  recorded.data.access_token = `${token.access_token.slice(0, 24)}…`;

  await record('lookUpRut', ['company', 'A company'], ['GET', `${ENTERPRISE}/erut`]);
  await record('lookUpRutAlias', ['company', 'A company'], ['GET', `erut/${DEMO_RUT}`]);
  await record('createEnterprise', usual, ['POST', 'enterprises', { rut: DEMO_RUT, ...DEMO_ENTERPRISE }]);
  await portal.put(`credentials/${DEMO_RUT}`, { json: { ...LOGIN, permissions: ['HOMO', 'PROD'] } });
  await record(
    'validateCredentials',
    ['login', 'With the login at the authority'],
    ['POST', `${ENTERPRISE}/validate-efactura`, LOGIN],
  );
  await until('the login', 60, async () => {
    const { data } = await customer.send('GET', `${ENTERPRISE}/efactura-status`);
    return (data as { status: string }).status === 'VALID';
  });
  await record(
    'getCredentialsStatus',
    ['valid', 'After a login that succeeded'],
    ['GET', `${ENTERPRISE}/efactura-status`],
  );
  const certificate = await portal
    .post('certificates', {
      json: { rut: DEMO_RUT, legal_name: 'Almacén Demo SA', password: 'demo-certificate' },
    })
    .json();
  await record(
    'uploadCertificate',
    ['usual', 'A .p12 file (cut short here)'],
    ['POST', `${ENTERPRISE}/certificate`, certificate],
  );
  await record('getCertificate', ['valid', 'A valid certificate'], ['GET', `${ENTERPRISE}/certificate`]);
  const plan = { plan_id: 'FREE', frequency_id: 'MONTHLY', scheduled_ready_date: '2026-01-01T00:00:00' };
  await record('updateEnterprise', ['usual', 'Plan and start date'], ['PUT', ENTERPRISE, plan]);
  await record(
    'patchEnterprise',
    ['date', 'The start date alone'],
    ['PATCH', ENTERPRISE, { scheduled_ready_date: plan.scheduled_ready_date }],
  );
  await keepBranches(customer);
  for (const { code } of Object.values(CFE_TYPES)) {
    const cae = await portal
      .post('caes', { json: { rut: DEMO_RUT, cfe_type_code: String(code) } })
      .json<{ cae_b64: string; number_start: number }>();
    const body = { cae_b64: cae.cae_b64, cae_start_number: cae.number_start };
    if (code === 101)
      await record(
        'uploadCae',
        ['tickets', 'Numbers for e-Tickets (file cut short here)'],
        ['POST', `${ENTERPRISE}/caes`, body],
      );
    else await customer.send('POST', `${ENTERPRISE}/caes`, body);
  }
  await until('READY', 60, async () => {
    const { data } = await customer.send('GET', ENTERPRISE);
    return (data as { status: string }).status === 'READY';
  });
  await record('getEnterprise', ['ready', 'Ready to issue'], ['GET', ENTERPRISE]);
  await record('listEnterprises', ['ready', 'Those that may issue'], ['GET', 'enterprises?status=READY']);
  await record('listCaes', ['ok', 'Those that are good'], ['GET', `${ENTERPRISE}/caes?status=OK`]);
}

async function keepBranches({ record }: Recorder): Promise<void> {
  const place = {
    street_name: 'Av. Gorlero 800',
    locality_name: 'Punta del Este',
    department_name: 'Maldonado',
    phone_number: '42440000',
  };
  const path = `${ENTERPRISE}/branches`;
  await record('createBranch', ['second', 'A second branch'], ['POST', path, { branch: 2, ...place }]);
  await record(
    'updateBranch',
    ['moved', 'It has moved'],
    ['PUT', `${path}/2`, { ...place, street_name: 'Calle 20 845' }],
  );
  await record('listBranches', ['two', 'The first, and another'], ['GET', path]);
  await record('deleteBranch', ['gone', 'Nothing was issued from it'], ['DELETE', `${path}/2`]);
}

async function keepCustomers({ record }: Recorder): Promise<void> {
  const company = {
    doc_type: 'RUC',
    doc_number: '219999830019',
    legal_name: 'Almacén del Sur S.R.L.',
    fiscal_address: 'Av. 18 de Julio 1234',
    city: 'Montevideo',
    department: 'Montevideo',
    country: 'Uruguay',
    country_code: 'UY',
    notifications: [{ type: 'EMAIL', destination: 'compras@example.com', enabled: true }],
  };
  const path = `${ENTERPRISE}/customers/${company.doc_type}/${company.doc_number}`;
  await record('createCustomer', ['company', 'A company'], ['POST', `${ENTERPRISE}/customers`, company]);
  await record(
    'listCustomers',
    ['byName', 'Those with "almacen" in their names'],
    ['GET', `${ENTERPRISE}/customers?legal_name=almacen`],
  );
  await record('getCustomer', ['company', 'A company'], ['GET', path]);
  await record(
    'updateCustomer',
    ['moved', 'It has moved'],
    ['PUT', path, { ...company, fiscal_address: 'Rincón 501' }],
  );
  await record('deleteCustomer', ['gone', 'It is gone'], ['DELETE', path]);
}

interface Document {
  cfe_type: CfeType;
  header: { totals: { tax_basic_net_amount?: number } };
  details: { iva_type: string; item_amount: number }[];
}

/** Whether the lines at the basic rate come to more than their base: the prices include the VAT. */
const hasVatInPrices = ({ header: { totals }, details }: Document): boolean =>
  details
    .filter(({ iva_type }) => iva_type === 'BASIC_RATE')
    .reduce((sum, line) => sum + line.item_amount, 0) > (totals.tax_basic_net_amount ?? 0);

/** The document without what a preview computes. */
const withoutAmounts = ({ header, details, ...body }: Document): object => {
  const { currency, exchange_rate } = header.totals as Record<string, unknown>;
  return {
    ...body,
    header: { ...header, totals: { currency, exchange_rate } },
    details: details.map((line) =>
      Object.fromEntries(Object.entries(line).filter(([name]) => name !== 'item_amount')),
    ),
  };
};

async function issue(customer: Recorder): Promise<void> {
  const today = montevideoDate(new Date());
  const idOfType = new Map<string, string>();
  for (const name of readdirSync(DOCUMENTS).sort()) {
    const text = readFileSync(join(DOCUMENTS, name), 'utf8').replace(
      /\{(today|[A-Z_]+)\}/g,
      (_, key: string) => (key === 'today' ? today : (idOfType.get(key) ?? '')),
    );
    const body = JSON.parse(text) as Document;
    const title = name.replace(/^\d+-|\.json$/g, '');
    if (title === 'rejected') {
      await beRejected(customer, body);
      continue;
    }
    const key = title.replace(/-(\w)/g, (__, letter: string) => letter.toUpperCase());
    if (body.cfe_type === 'ETICKET') {
      const trial = `${ENTERPRISE}/cfes?validate_only=true`;
      await customer.tryOut('issueCfe', ['valid', 'It could be issued'], ['POST', trial, body]);
      const preview = `${ENTERPRISE}/cfes/preview?prices=${hasVatInPrices(body) ? 'gross' : 'net'}`;
      await customer.record(
        'previewCfe',
        ['usual', 'Without totals'],
        ['POST', preview, withoutAmounts(body)],
      );
    }
    const data = await customer.record(
      'issueCfe',
      [
        key,
        `${CFE_TYPES[body.cfe_type].label}, ${hasVatInPrices(body) ? 'prices that include VAT' : 'prices without VAT'}`,
      ],
      ['POST', `${ENTERPRISE}/cfes`, body],
    );
    const { cfe_id } = data as { cfe_id: string };
    idOfType.set(body.cfe_type, cfe_id);
    await verdict(customer, cfe_id, 'ACCEPTED');
  }
  const first = idOfType.get('EFACTURA') ?? '';
  await customer.record(
    'getCfe',
    ['accepted', 'Accepted by the authority'],
    ['GET', `${ENTERPRISE}/cfes/${first}`],
  );
  const credit = `${ENTERPRISE}/cfes/${first}/credit-notes`;
  const percent = { percent: 10, reason: 'Descuento posterior' };
  await customer.tryOut(
    'creditCfe',
    ['valid', 'It could be issued'],
    ['POST', `${credit}?validate_only=true`, percent],
  );
  await customer.record('creditCfe', ['percent', 'A percentage of the receipt'], ['POST', credit, percent]);
  await customer.record(
    'getCredit',
    ['usual', 'After two notes'],
    ['GET', `${ENTERPRISE}/cfes/${first}/credit`],
  );
  const emails = `${ENTERPRISE}/cfes/${first}/emails`;
  const destination = 'compras@example.com';
  await customer.record('sendMail', ['usual', 'To an address'], ['POST', emails, { destination }]);
  await until('the e-mail', 60, async () => {
    const { data } = await customer.send('GET', emails);
    return (data as { status: string }[])[0]?.status === 'SENT';
  });
  await customer.record('listMails', ['sent', 'One that was sent'], ['GET', emails]);
  await customer.record('listCfes', ['newest', 'The newest two'], ['GET', `${ENTERPRISE}/cfes?limit=2`]);
}

async function verdict({ send }: Recorder, cfeId: string, status: string): Promise<void> {
  await until(`the verdict on ${cfeId}`, 60, async () => {
    const { data } = await send('GET', `${ENTERPRISE}/cfes/${cfeId}`);
    return (data as { items: { cfe_status: string }[] }).items[0]?.cfe_status === status;
  });
}

/** What is told of a CFE that the authority rejects; its request is no model, and not recorded. */
async function beRejected(customer: Recorder, body: Document): Promise<void> {
  const headers = { 'idempotency-key': '7a1f1c52-8a1d-4a6e-9a53-3f1f0f6f1f01' };
  const { data } = await customer.send('POST', `${ENTERPRISE}/cfes`, body, headers);
  const { header } = body;
  const changed = { ...body, header: { ...header, totals: { ...header.totals, pay_amount: 1 } } };
  await customer.refuse('POST', `${ENTERPRISE}/cfes`, changed, headers);
  const { cfe_id } = data as { cfe_id: string };
  await verdict(customer, cfe_id, 'REJECTED');
  await customer.record(
    'getCfe',
    ['rejected', 'Rejected by the authority: `rejection` says why'],
    ['GET', `${ENTERPRISE}/cfes/${cfe_id}`],
  );
}

/** A webhook, so that there are events to be read; nobody listens at its address. */
async function listen(cfe: Cli): Promise<void> {
  const accounts = (await cfe.json('account', 'list')) as { account_id: string; name: string }[];
  const account = accounts.find(({ name }) => name === 'Local developer')?.account_id ?? '';
  await cfe.json('webhook', 'add', account, '--url', 'https://cfe.example.com/', '--event', 'cfe.updated');
}

async function lookAround({ record }: Recorder): Promise<void> {
  await record('listEvents', ['oldest', 'The oldest two that are kept'], ['GET', 'events?limit=2']);
  await record('getAuthority', ['up', 'All is well'], ['GET', 'authority']);
}

/** The report of today, sent by hand, as nothing is reported before the day is over. */
async function report(customer: Recorder, cfe: Cli): Promise<void> {
  const today = montevideoDate(new Date());
  await cfe.json('report', 'send', DEMO_RUT, today, '--reason', 'an example', '--by', 'tool');
  const path = `${ENTERPRISE}/daily-reports`;
  // Its last state, which no other overtakes.
  await until('the report to be found right', 60, async () => {
    const { data } = await customer.send('GET', `${path}/${today}`);
    return (data as { status: string }).status === 'CONSISTENT';
  });
  await customer.record('listDailyReports', ['latest', 'The latest day'], ['GET', `${path}?limit=1`]);
  await customer.record(
    'getDailyReport',
    ['consistent', 'Found right by the authority'],
    ['GET', `${path}/${today}`],
  );
}

/** A test run in the sandbox, stopped before its end: an example needs no 312 receipts. */
async function testRun(customer: Recorder): Promise<void> {
  const path = `${ENTERPRISE}/homologation`;
  const wish = { set: 'TESTING' };
  await customer.record('startHomologation', ['testing', 'The test in Testing'], ['POST', path, wish]);
  await until('a received receipt', 60, async () => {
    const { data } = await customer.send('GET', path);
    return (data as { types: { received: number }[] }).types.some(({ received }) => received > 0);
  });
  await customer.record('getHomologation', ['running', 'Under way'], ['GET', path]);
  await customer.record('stopHomologation', ['stopped', 'Stopped before its end'], ['DELETE', path]);
}

async function refusals({ refuse, send }: Recorder, { test_api_key }: StackInfo): Promise<void> {
  const customers = `${ENTERPRISE}/customers`;
  await refuse('POST', 'tokens', {}, { 'x-api-key': 'cfe_live_unknown' });
  await refuse('GET', ENTERPRISE, undefined, { authorization: 'Bearer unknown' });
  await refuse('GET', 'enterprises/219999830019');
  await refuse('POST', 'enterprises', {
    rut: DEMO_RUT,
    legal_name: 'Almacén Demo SA',
    department_name: 'Montevideo',
    locality_name: 'Montevideo',
    street_name: 'Rincón 500',
    branch: 1,
  });
  await refuse('POST', customers, { doc_type: 'RUC', doc_number: '219999830018', name: 'Almacén del Sur' });
  await refuse('POST', customers, { doc_type: 'x'.repeat(17 * 1024) });
  await refuse('POST', customers, {}, { 'content-type': 'text/plain' });

  const sandbox = { 'x-api-key': test_api_key, 'x-sandbox-mode': 'true' };
  const { access_token } = (await send('POST', 'tokens', {}, sandbox)).data as { access_token: string };
  const key = { 'x-api-key': test_api_key, authorization: `Bearer ${access_token}` };
  await refuse('GET', ENTERPRISE, undefined, key);
}

/** Records the examples of openapi.json: starts a stack, does what a customer does, and answers what was said. */
export async function recordExamples(): Promise<Examples> {
  const stack = await startTestStack();
  try {
    const customer = recorder(stack.info());
    await onboard(customer, stack.info().simulator_url);
    await keepCustomers(customer);
    await listen(stack.cli);
    await issue(customer);
    await lookAround(customer);
    await report(customer, stack.cli);
    await testRun(customer);
    await refusals(customer, stack.info());
  } finally {
    await stack.stop();
  }
  return { operations, errors };
}

/** Records them into their file. */
export async function writeExamples(): Promise<void> {
  writeFileSync(EXAMPLES_FILE, `${JSON.stringify(await recordExamples(), null, 2)}\n`);
  execFileSync(BIOME, ['format', '--write', EXAMPLES_FILE], { stdio: 'ignore' });
}
