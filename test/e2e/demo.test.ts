import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { FREE_PORTS, temporalElsewhere, withoutOwn } from '../support/runningStack.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
const dataDir = mkdtempSync(join(tmpdir(), 'cfe-demo-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** `npm run demo`, its set-up included, on a data folder of its own; what it said. Throws unless it ends 0. */
const demo = async (): Promise<string> =>
  execFileSync(process.execPath, ['tools/setup.mjs', 'src/main/demo.ts'], {
    cwd: CHECKOUT,
    encoding: 'utf8',
    timeout: 120_000,
    env: {
      ...withoutOwn(process.env),
      ...(await temporalElsewhere()),
      ...FREE_PORTS,
      CFE_DATA_DIR: dataDir,
    },
  });

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
  expect(readdirSync(join(dataDir, 'demo')).filter((name) => name.endsWith('.xml'))).toHaveLength(10);
}, 150_000);

test('run again it uses what is there and issues new CFEs', async () => {
  const said = await demo();

  expect(said).not.toContain('create the enterprise');
  expect(said).toContain('101-3 has number A-3');
  expect(said).toContain('nine accepted, one rejected as meant');
}, 150_000);
