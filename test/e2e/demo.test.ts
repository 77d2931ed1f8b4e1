import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { inherited, runToEnd } from '../support/processes/processes.ts';
import { freePorts, temporalElsewhere } from '../support/stacks.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'cfe-demo-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** `npm run demo`, its set-up included, on a data folder of its own; what it said. */
async function demo(...args: string[]): Promise<string> {
  // Nothing is made for it beforehand, as for whoever runs it first.
  const own = { CFE_DATA_DIR: dataDir, CFE_WORKFLOW_BUNDLE: undefined };
  const env = inherited({ ...(await temporalElsewhere()), ...(await freePorts()), ...own });
  const { code, stdout, stderr } = await runToEnd(['tools/setup.mjs', 'local/main/demo.ts', ...args], {
    env,
  });
  if (code !== 0) throw new Error(`the demo ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

test('the demo onboards its enterprise step by step and ends with nine accepted and one rejected as meant', async () => {
  const said = await demo();

  for (const step of [
    'create the enterprise',
    'validate the e-invoicing',
    'upload a certificate',
    'choose plan',
    'READY',
  ]) {
    expect(said).toContain(step);
  }
  expect(said).toContain('the receiver was told: efactura.login success');
  expect(said).toMatch(/Events at https:\/\/127\.0\.0\.1:\d+\/demo, each signed and verified:/);
  for (const event of ['efactura.login', 'enterprise.updated', 'cfe.updated']) {
    expect(said).toContain(`'${event}'`);
  }
  expect(said).toContain('nine accepted, one rejected as meant');
  for (const ending of ['.xml', '.pdf'])
    expect(readdirSync(join(dataDir, 'demo')).filter((name) => name.endsWith(ending))).toHaveLength(10);
  expect(said).toContain('E-mails that arrived:');
  expect(said.match(/compras@cliente\.example'/g)).toHaveLength(3);
  expect(said.match(/notas@importadora\.example'/g)).toHaveLength(3);
});

test('run again it uses what is there and issues new CFEs', async () => {
  const said = await demo();

  expect(said).not.toContain('create the enterprise');
  expect(said).toContain('101-3 has number A-3');
  expect(said).toContain('nine accepted, one rejected as meant');
});

test('`demo -- entry` takes a new company from the authority’s tests to its first production receipt', async () => {
  const said = await demo('entry');

  for (const step of [
    'start the test run',
    '312 receipts received',
    '«Procesar Reporte»',
    'the report is processed',
    'the enterprise is READY',
    'number A-1: ACCEPTED',
    'its page, as the receiver sees it: http',
    'The company is an issuer',
  ]) {
    expect(said).toContain(step);
  }
});
