import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { aCustomer, field, portal, XSD_DIR } from '../../support/simulator/world.ts';

const MAIN = resolve(import.meta.dirname, '../../../local/main/simulator.ts');
const dataDir = mkdtempSync(join(tmpdir(), 'simulator-'));
const running = new Set<ChildProcess>();

afterEach(async () => {
  for (const child of running) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  running.clear();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The simulator as a process, once its log says that it is ready. */
async function start(port = 0) {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      CFE_SIMULATOR_PORT: String(port),
      CFE_SIMULATOR_SMTP_PORT: '0',
      CFE_DATA_DIR: dataDir,
      CFE_LOG_LEVEL: 'info',
      DGI_XSD_DIR: XSD_DIR,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  let output = '';
  const url = await new Promise<string>((found, failed) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const address = /"url":"(http:[^"]+)"/.exec(output)?.[1];
      if (address) found(address);
    });
    child.once('exit', (code) => failed(new Error(`the simulator ended with ${code}: ${output}`)));
  });
  return { child, url };
}

const end = async (child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
  const ended = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  const [code] = await ended;
  running.delete(child);
  return code;
};

describe('the simulator as a process', () => {
  test('what was answered AS is there after a SIGKILL, with keys, counts of faults and an outage in progress', async () => {
    const first = await start();
    const customer = await aCustomer(first.url);
    const cae = await customer.cae(101);
    const pems = (await portal(first.url, 'GET', '/portal/authority-certificates')).bytes;
    const sobre = customer.sobre([customer.cfe({ type: 101, cae, number: 1 })]);
    const faulty = customer.sobre([customer.cfe({ type: 101, cae, number: 2, name: 'SIM FAULT 2' })]);
    expect((await customer.send(faulty)).status).toBe(500);
    const ack = (await customer.send(sobre)).payload;
    await end(first.child, 'SIGKILL');

    const second = await start(Number(new URL(first.url).port));
    expect((await portal(second.url, 'GET', '/portal/authority-certificates')).bytes.equals(pems)).toBe(true);
    expect(field(await customer.await(field(ack, 'IDReceptor'), field(ack, 'Token')), 'Estado')).toBe('AE');
    expect(field((await customer.send(sobre)).payload, 'Motivo')).toBe('S08');
    expect((await customer.send(faulty)).status).toBe(500);
    expect(field((await customer.send(faulty)).payload, 'Estado')).toBe('AS');
    const down = customer.sobre([customer.cfe({ type: 101, cae, number: 3, name: 'SIM DOWN 600' })]);
    expect(field((await customer.send(down)).payload, 'Estado')).toBe('AS');
    await end(second.child, 'SIGKILL');

    const third = await start();
    const { items } = (await portal(third.url, 'GET', '/portal/ledger')).json as {
      items: { numero: number; times_received: number }[];
    };
    expect(items.map(({ numero, times_received }) => [numero, times_received])).toEqual([
      [1, 2],
      [2, 1],
      [3, 1],
    ]);
    expect((await fetch(`${third.url}/production/ws_efactura`, { method: 'POST', body: 'x' })).status).toBe(
      503,
    );
    expect(await end(third.child, 'SIGTERM')).toBe(0);
  });

  test('ends at once and cleanly on SIGTERM, with a client still connected', async () => {
    const { child, url } = await start();
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(await end(child, 'SIGTERM')).toBe(0);
  });
});
