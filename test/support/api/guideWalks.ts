import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Customer, logIn } from '../../../local/demo/customer.ts';
import { type Code, SLUGS, type Slug } from '../../../src/handbook/guides.ts';
import { testWithPython } from '../processes/python.ts';
import { aRut } from '../receipts/papers.ts';
import { issue, type TestStack, verdictOf } from '../stacks.ts';
import { useStack } from '../useStack.ts';
import { folderWithSdk, forAllReaders, runGuide, walkOf, walkOfReadme } from './guides.ts';

const RUT = aRut();
let stack: TestStack;
let folder: string;

/** What the company of *Going live* brings: a login, a certificate and a CAE, from the simulator's portal. */
async function papersOf(rut: string, cwd: string): Promise<Record<string, string>> {
  const portal = `${stack.info().simulator_url}/portal`;
  const ask = async <T>(method: string, path: string, body: object): Promise<T> => {
    const answer = await fetch(`${portal}/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([path, answer.ok]).toEqual([path, true]);
    const text = await answer.text();
    return (text === '' ? {} : JSON.parse(text)) as T;
  };
  const login = { username: 'empresa', password: 'portal-login-of-a-guide' };
  await ask('PUT', `credentials/${rut}`, { ...login, permissions: ['HOMO', 'PROD'] });
  await ask('PUT', `registry/${rut}`, { legal_name: 'Empresa SA' });
  const password = 'certificate-of-a-guide';
  const certificate = await ask<{ cert_b64: string }>('POST', 'certificates', { rut, password });
  const cae = await ask<{ cae_b64: string; number_start: number }>('POST', 'caes', {
    rut,
    cfe_type_code: '101',
  });
  writeFileSync(join(cwd, 'certificate.p12'), Buffer.from(certificate.cert_b64, 'base64'));
  writeFileSync(join(cwd, 'cae-101.xml'), Buffer.from(cae.cae_b64, 'base64'));
  return {
    CFE_RUT: rut,
    DGI_USER: login.username,
    DGI_PASSWORD: login.password,
    P12_PASSWORD: password,
    CAE_START: String(cae.number_start),
    CFE_PAUSE: '2',
  };
}

/** A reader with an account of their own. */
async function aReader(): Promise<{
  account: string;
  keys: Record<'CFE_API_KEY' | 'CFE_SANDBOX_API_KEY', string>;
}> {
  const { cli } = stack;
  const created = ['account', 'create', '--name', 'Lector', '--email', 'lector@example.com', '--developer'];
  const { account_id: account } = await cli.json<{ account_id: string }>(...created);
  const keyOf = async (environment: string): Promise<string> =>
    (await cli.json<{ api_key: string }>('key', 'create', account, '--environment', environment)).api_key;
  const keys = { CFE_API_KEY: await keyOf('production'), CFE_SANDBOX_API_KEY: await keyOf('sandbox') };
  return { account, keys };
}

/** Registers an enterprise for whoever has the key. */
async function anEnterpriseOf(key: string): Promise<{ customer: Customer; rut: string }> {
  const customer = await logIn(stack.info().base_url, key);
  const rut = aRut();
  const place = { department_name: 'Montevideo', locality_name: 'Montevideo', street_name: 'Rincón 500' };
  const data = { rut, legal_name: 'Almacén del Puerto SA', branch: 1, ...place };
  await customer.send('POST', 'enterprises', data);
  return { customer, rut };
}

/** The reader of *First receipt*: one names the RUT that is to be registered, the others have it already. */
async function aNewcomer(code: Code): Promise<Record<string, string>> {
  const { keys } = await aReader();
  if (code === 'sh') return { ...keys, CFE_RUT: aRut() };
  await anEnterpriseOf(keys.CFE_API_KEY);
  return { ...keys, CFE_RUT: '' };
}

/** What happened while the reader of *Webhooks* was away: more than a page of theirs holds. */
async function missedEvents(): Promise<{ key: string; last: string | undefined }> {
  const { account, keys } = await aReader();
  const { customer, rut } = await anEnterpriseOf(keys.CFE_API_KEY);
  const asked = ['--url', 'https://hooks.example.com/', '--event', 'enterprise.updated'];
  const { webhook_id } = await stack.cli.json<{ webhook_id: string }>('webhook', 'add', account, ...asked);
  await stack.cli.json('webhook', 'update', webhook_id, '--disable');
  for (const phone_number of ['29150001', '29150002', '29150003'])
    await customer.send('PUT', `enterprises/${rut}`, { phone_number });
  const { items } = await customer.get<{ items: { event: string; id: string }[] }>('events');
  expect(items.map(({ event }) => event)).toEqual(Array(3).fill('enterprise.updated'));
  return { key: keys.CFE_API_KEY, last: items.at(-1)?.id };
}

/** The reader of *Printing* has issued a receipt in production, which is there to be mailed. */
async function aReceipt(): Promise<Record<string, string>> {
  const { cfe_id } = await issue(stack.customer, RUT);
  await verdictOf(stack.customer, RUT, cfe_id);
  return { PRODUCTION_CFE_ID: cfe_id, MAIL_TO: 'compras@example.com' };
}

/** The last event that readers of *Webhooks* missed, by their folders. */
const missed = new Map<string, string | undefined>();

/** What the reader of *Webhooks* has got: a secret, and a stack in whose folder they are. */
async function aSecret(cwd: string): Promise<Record<string, string>> {
  const { ca_file, ca_key_file } = stack.info();
  mkdirSync(join(cwd, '.local'));
  writeFileSync(join(cwd, '.local/stack.json'), JSON.stringify({ ca_file, ca_key_file }));
  const env = { WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`, PORT: '0' };
  // The page has its reader make the server's certificate and a message first, whatever they write it in.
  const made = await runGuide('sh', forAllReaders('en', 'webhooks'), { cwd, env });
  expect(made).toMatchObject({ code: 0 });
  const { key, last } = await missedEvents();
  missed.set(cwd, last);
  return { ...env, CFE_API_KEY: key, CFE_PAGE: '2' };
}

async function preparedFor(slug: Slug, code: Code, cwd: string): Promise<Record<string, string>> {
  if (slug === 'first-receipt') return aNewcomer(code);
  if (slug === 'going-live') return papersOf(aRut(), cwd);
  if (slug === 'printing') return aReceipt();
  // So small a page that there is a next one.
  if (slug === 'limits') return { CFE_PAGE: '1' };
  return slug === 'webhooks' ? aSecret(cwd) : {};
}

/** Runs a walk in a folder of its own, and holds what it says against what its page says. */
async function runs(
  name: string,
  code: Code,
  { program, output }: ReturnType<typeof walkOf>,
  prepare: (cwd: string) => Promise<Record<string, string>> | Record<string, string> = () => ({}),
): Promise<{ cwd: string; stderr: string }> {
  const cwd = join(folder, `${name}-${code}`);
  mkdirSync(cwd);
  const { base_url, live_api_key, test_api_key } = stack.info();
  const env = {
    CFE_URL: base_url,
    CFE_API_KEY: live_api_key,
    CFE_SANDBOX_API_KEY: test_api_key,
    CFE_RUT: RUT,
    ...(await prepare(cwd)),
  };
  const { code: exit, stdout, stderr } = await runGuide(code, program, { cwd, env });
  expect({ exit, said: stdout.trim(), stderr }).toEqual({ exit: 0, said: output, stderr: expect.anything() });
  return { cwd, stderr };
}

/** The reader has worked on each event that they missed once, over two pages and two readings, and kept their place. */
function caughtUp({ cwd, stderr }: { cwd: string; stderr: string }): void {
  expect(stderr.match(/^enterprise\.updated$/gm)).toHaveLength(3);
  expect(readFileSync(join(cwd, 'last-event.txt'), 'utf8').trim()).toBe(missed.get(cwd));
}

/** Walks the guides word for word in these languages of programs, on a stack. */
export function walkGuides(getStack: () => Promise<TestStack>, codes: readonly Code[]): void {
  stack = useStack(getStack, ({ onboard }) => onboard([101], RUT));
  beforeAll(() => {
    folder = folderWithSdk();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe.each(SLUGS)('the guide %s', (slug) => {
    for (const code of codes) {
      const it = code === 'py' ? testWithPython : test;
      it(`runs word for word: ${code}`, async () => {
        const ran = await runs(slug, code, walkOf('en', slug, code), (cwd) => preparedFor(slug, code, cwd));
        if (slug === 'webhooks') caughtUp(ran);
      });
    }
  });

  if (codes.includes('ts'))
    test('the README of the package runs word for word', async () => {
      await runs('readme', 'ts', walkOfReadme());
    });
}
