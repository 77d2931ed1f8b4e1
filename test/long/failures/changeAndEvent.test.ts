import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import got from 'got';
import { Webhook as Verifier } from 'standardwebhooks';
import { LOCAL_DEVELOPER } from '../../../local/stack/prepareStack.ts';
import { sealingKeyFor } from '../../../src/crypto/newSecrets.mjs';
import type { Failpoint } from '../../../src/failpoints.ts';
import type { HttpClient } from '../../support/api/http.ts';
import { cliOn } from '../../support/cli.ts';
import { inspectEvent } from '../../support/openapi/conformance.ts';
import {
  type BareStack,
  databaseUrlAs,
  type ExtraProgram,
  openBareStack,
  readSecrets,
  startSimulatorProcess,
} from '../../support/stacks.ts';
import { until } from '../../support/until.ts';
import {
  aTestAuthority,
  type Received,
  type Receiver,
  startReceiver,
} from '../../support/webhooks/receiver.ts';

/** From the first write of a change to the moment when its delivery is on its way: what a request passes. */
const POINTS: readonly Failpoint[] = [
  'request.written',
  'request.committed',
  'dispatch.taken',
  'dispatch.told',
  'dispatch.marked',
];

interface CaeAnswer {
  authorization_number: string;
}
interface Message {
  event: string;
  data: { rut: string; changes: { caes: { from: CaeAnswer[]; to: CaeAnswer[] } } };
}

const folder = mkdtempSync(join(tmpdir(), 'cfe-change-'));
let simulator: ExtraProgram;
let receiver: Receiver;
let stack: BareStack;
let api: ExtraProgram;
let client: HttpClient;
let secret: string;
beforeAll(async () => {
  const authority = await aTestAuthority();
  [simulator, receiver] = await Promise.all([startSimulatorProcess(folder), startReceiver(authority)]);
  stack = await openBareStack({ simulatorUrl: simulator.baseUrl, caPem: authority.caPem });
  const worker = await stack.start('worker');
  api = await stack.start('api');
  await stack.onboard(api.baseUrl, [101]);
  await worker.stop();
  client = stack.clientAt(api.baseUrl);
  secret = await tellOfChanges();
});
afterAll(async () => {
  await api?.stop();
  await stack?.[Symbol.asyncDispose]();
  await receiver?.close();
  await simulator?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes a webhook for `enterprise.updated` at the command line; its secret. */
async function tellOfChanges(): Promise<string> {
  const secrets = readSecrets(stack.dataDir);
  const cli = cliOn(databaseUrlAs(stack, 'operator'), {
    CFE_SEALING_KEY: sealingKeyFor(secrets.key_encryption_keys),
    CFE_WEBHOOK_LOCAL_CA_FILE: join(stack.dataDir, 'ca.pem'),
  });
  const words = ['--url', receiver.url(), '--event', 'enterprise.updated'];
  return (await cli.json<{ secret: string }>('webhook', 'add', LOCAL_DEVELOPER, ...words)).secret;
}

/** What is stored of a CAE, and how many events tell of it. */
async function storedOf(authorization: string): Promise<{ caes: number; events: number }> {
  const [row] = await stack.orm.em.fork().execute<{ caes: number; events: number }[]>(
    `select (select count(*)::integer from cae where authorization_number = ?) as caes,
            (select count(*)::integer from event where position(? in body) > 0) as events`,
    [authorization, authorization],
  );
  return row ?? { caes: -1, events: -1 };
}

const messageOf = ({ body }: Received): Message => JSON.parse(body) as Message;
/** What came of the change that brought this CAE. */
const toldOf = (authorization: string): Received[] =>
  receiver.received.filter((request) => {
    const { from, to } = messageOf(request).data.changes.caes;
    const has = (caes: CaeAnswer[]) => caes.some((cae) => cae.authorization_number === authorization);
    return has(to) && !has(from);
  });

test.each(POINTS)(
  'the API killed at %s: the change and its event are both there, or neither',
  async (point) => {
    const cae = await got
      .post(`${simulator.baseUrl}/portal/caes`, { json: { rut: stack.rut, cfe_type_code: '101' } })
      .json<{ cae_b64: string; authorization_number: string; number_start: number }>();
    const authorization = cae.authorization_number;
    const body = { cae_b64: cae.cae_b64, cae_start_number: cae.number_start };
    const upload = (by: HttpClient) =>
      by.post(`/enterprises/${stack.rut}/caes`, body, { 'idempotency-key': `cae ${point}` });
    const doomed = await stack.start('api', { CFE_TEST_MODE: 'true', CFE_FAILPOINTS: point });

    await upload(stack.clientAt(doomed.baseUrl)).catch(() => null);
    await until('its end', 30, async () => doomed.hasEnded());

    const isCommitted = point !== 'request.written';
    const both = isCommitted ? { caes: 1, events: 1 } : { caes: 0, events: 0 };
    expect(await storedOf(authorization)).toEqual(both);

    const worker = await stack.start('worker');
    try {
      // What a customer does whose request had no answer.
      const again = await upload(client);
      expect(again.status).toBe(201);
      expect(again.headers.get('idempotent-replayed')).toBe(isCommitted ? 'true' : null);
      await until('the event', 30, async () => toldOf(authorization).length > 0);
    } finally {
      await worker.stop();
    }
    expect(await storedOf(authorization)).toEqual({ caes: 1, events: 1 });
    const told = toldOf(authorization);
    expect(new Set(told.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const request of told) {
      expect(new Verifier(secret).verify(request.body, request.headers)).toEqual(messageOf(request));
      inspectEvent(request);
    }
  },
);

test('read by their timestamps, the events lead from each state to the next', () => {
  const events = [...new Map(receiver.received.map((one) => [one.headers['webhook-id'], one])).values()]
    .map((request) => JSON.parse(request.body) as Message & { timestamp: string })
    .sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));

  expect(events).toHaveLength(POINTS.length);
  for (const [i, { event, data }] of events.entries()) {
    expect([event, data.rut]).toEqual(['enterprise.updated', stack.rut]);
    const before = events[i - 1]?.data.changes.caes.to;
    if (before) expect(data.changes.caes.from).toEqual(before);
  }
});
