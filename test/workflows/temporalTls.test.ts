import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { readConfig, type Variables } from '../../src/config.ts';
import type { TemporalServer } from '../../src/temporal.ts';
import { TEMPORAL_SERVER_VARIABLES, temporalServerOf } from '../../src/wiring/temporal/temporalServer.ts';
import { testAuthority } from '../support/enterprises/certificates.ts';
import { type SecuredTemporal, secureTemporal } from '../support/temporal/securedTemporal.ts';
import { openTemporal, type TestTemporal, workflowBundle } from '../support/temporal/temporal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cfe-temporal-tls-'));
const authority = testAuthority(join(folder, 'ca'), 'CFE test authority');
const stranger = testAuthority(join(folder, 'other-ca'), 'Another authority');
const client = authority.issue('cfe');
const strangersClient = stranger.issue('cfe');
const API_KEY = 'key-of-the-test';
const keyFile = join(folder, 'api-key');
writeFileSync(keyFile, `${API_KEY}\n`);

const TRUST = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.ca };
const CLIENT = {
  TEMPORAL_TLS_CLIENT_CERT_PATH: client.cert,
  TEMPORAL_TLS_CLIENT_KEY_PATH: client.key,
};

const DONE = { told: 7 };

let temporal: TestTemporal;
let demandsCertificate: SecuredTemporal;
let demandsKey: SecuredTemporal;
beforeAll(async () => {
  temporal = await openTemporal();
  const server = authority.issue('server', 'localhost');
  const { address } = temporal;
  demandsCertificate = await secureTemporal({ address, server, clientCa: authority.ca });
  demandsKey = await secureTemporal({ address, server, apiKey: API_KEY });
});
afterAll(async () => {
  await demandsCertificate?.[Symbol.asyncDispose]();
  await demandsKey?.[Symbol.asyncDispose]();
  await temporal?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const serverFrom = (variables: Variables): TemporalServer =>
  temporalServerOf(readConfig(TEMPORAL_SERVER_VARIABLES, variables));
const localhost = ({ port }: SecuredTemporal) => ({ TEMPORAL_ADDRESS: `localhost:${port}` });

/** A client starts a workflow and a worker does it, each over a connection of its own; its result. */
async function startAndWork(server: TemporalServer): Promise<unknown> {
  const { namespace } = temporal;
  const native = await NativeConnection.connect(server);
  const connection = await Connection.connect({ ...server, connectTimeout: '5s' });
  try {
    const activities = { recordExpiries: async () => ({ kind: 'told', enterprises: 7 }) };
    const taskQueue = `tls-${randomUUID()}`;
    const worker = await Worker.create({
      connection: native,
      namespace,
      taskQueue,
      workflowBundle,
      activities,
    });
    const { workflow } = new Client({ connection, namespace });
    return await worker.runUntil(workflow.execute('tellExpiries', { workflowId: taskQueue, taskQueue }));
  } finally {
    await connection.close();
    await native.close();
  }
}

const bothFail = async (server: TemporalServer): Promise<void> => {
  await expect(NativeConnection.connect(server)).rejects.toThrow();
  await expect(Connection.connect({ ...server, connectTimeout: '3s' })).rejects.toThrow();
};

describe('a Temporal server that demands a certificate', () => {
  test('is used with it', async () => {
    expect(await startAndWork(serverFrom({ ...localhost(demandsCertificate), ...TRUST, ...CLIENT }))).toEqual(
      DONE,
    );
  });

  test('is used under the name that its certificate has, when told', async () => {
    const variables = { TEMPORAL_ADDRESS: `127.0.0.1:${demandsCertificate.port}`, ...TRUST, ...CLIENT };

    await bothFail(serverFrom(variables));
    expect(await startAndWork(serverFrom({ ...variables, TEMPORAL_TLS_SERVER_NAME: 'localhost' }))).toEqual(
      DONE,
    );
  });

  test.each([
    ['without ours', { ...TRUST }],
    [
      'with one by another authority',
      {
        ...TRUST,
        TEMPORAL_TLS_CLIENT_CERT_PATH: strangersClient.cert,
        TEMPORAL_TLS_CLIENT_KEY_PATH: strangersClient.key,
      },
    ],
    ['when another authority is trusted', { ...CLIENT, TEMPORAL_TLS_SERVER_CA_CERT_PATH: stranger.ca }],
    ['when only those of the system are trusted', { ...CLIENT, TEMPORAL_TLS: 'true' }],
    ['in the clear', {}],
  ])('is not used %s', async (_, settings) => {
    await bothFail(serverFrom({ ...localhost(demandsCertificate), ...settings }));
  });
});

test('a Temporal server that demands an API key is used with it, and with no other', async () => {
  const variables = { ...localhost(demandsKey), ...TRUST };

  expect(await startAndWork(serverFrom({ ...variables, TEMPORAL_API_KEY_FILE: keyFile }))).toEqual(DONE);
  await bothFail(serverFrom({ ...variables, TEMPORAL_API_KEY: 'another' }));
  await bothFail(serverFrom(variables));
});

test('a Temporal server in the clear is not used with TLS', async () => {
  await bothFail(serverFrom({ TEMPORAL_ADDRESS: temporal.address, ...TRUST }));
});

test.each([
  [
    { TEMPORAL_TLS: 'false', ...TRUST },
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH needs TLS, but TEMPORAL_TLS is false',
  ],
  [
    { TEMPORAL_TLS: 'false', TEMPORAL_API_KEY: API_KEY },
    'TEMPORAL_API_KEY needs TLS, but TEMPORAL_TLS is false',
  ],
  [
    { TEMPORAL_TLS_CLIENT_CERT_PATH: client.cert },
    'TEMPORAL_TLS_CLIENT_CERT_PATH is set without TEMPORAL_TLS_CLIENT_KEY_PATH',
  ],
  [
    { TEMPORAL_TLS_CLIENT_KEY_PATH: client.key },
    'TEMPORAL_TLS_CLIENT_KEY_PATH is set without TEMPORAL_TLS_CLIENT_CERT_PATH',
  ],
  [
    { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere' },
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH names /nowhere, which cannot be read (ENOENT)',
  ],
  [
    { TEMPORAL_TLS_SERVER_CA_CERT_PATH: keyFile },
    `TEMPORAL_TLS_SERVER_CA_CERT_PATH names ${keyFile}, which holds no PEM`,
  ],
] as const)('%j is refused, in words', (variables, words) => {
  expect(() => serverFrom({ TEMPORAL_ADDRESS: 'localhost:1', ...variables })).toThrow(words);
});
