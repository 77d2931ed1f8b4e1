import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import got from 'got';
import type { Customer } from '../../../local/demo/customer.ts';
import { AuthorityEndpoint } from '../../../src/db/entities/authority.ts';
import { Enterprise } from '../../../src/db/entities/enterprises.ts';
import { AuditEntry } from '../../../src/db/entities/operations.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import { Webhook } from '../../../src/db/entities/webhooks.ts';
import { FAILURES_TO_OPEN } from '../../../src/domain/authority/breaker.ts';
import type { Failpoint } from '../../../src/failpoints.ts';
import type { HttpClient } from '../../support/api/http.ts';
import { cliOn } from '../../support/cli.ts';
import { aKeyPair } from '../../support/database/sealing.ts';
import {
  CASES,
  NOTHING_STORED,
  SITUATIONS,
  type Situation,
  sizesAfter,
} from '../../support/processes/crashes.ts';
import { freePort } from '../../support/processes/services.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import {
  type BareStack,
  databaseUrlAs,
  type ExtraProgram,
  openBareStack,
  startSimulatorProcess,
  verdictOf,
} from '../../support/stacks.ts';
import { until } from '../../support/until.ts';
import { aTestAuthority, type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

/** As many as Jest lets tests of one file run at once (maxConcurrency). */
const LANES = 5;

interface Lane {
  stack: BareStack;
  /** Lives as long as the lane and is never armed. */
  api: ExtraProgram;
  client: HttpClient;
  customer: Customer;
}

interface CfeAnswer {
  cfe_id: string;
  cfe_status: string;
  serie: string;
  numero: number;
}

const folder = mkdtempSync(join(tmpdir(), 'cfe-crash-'));
const free: Lane[] = [];
const lanes: Lane[] = [];
let simulator: Awaited<ReturnType<typeof startSimulatorProcess>>;
let receiver: Receiver;

beforeAll(async () => {
  simulator = await startSimulatorProcess(folder);
  const authority = await aTestAuthority();
  receiver = await startReceiver(authority);
  const openLane = async (): Promise<void> => {
    const { baseUrl: simulatorUrl, smtpUrl } = simulator;
    const stack = await openBareStack({ simulatorUrl, smtpUrl, caPem: authority.caPem });
    const [api, worker] = await Promise.all([stack.start('api'), stack.start('worker')]);
    const customer = await stack.onboard(api.baseUrl, [101, 102]);
    await worker.stop();
    await stack.tell(receiver.url(`/${stack.rut}`));
    const notified = await stack
      .clientAt(api.baseUrl)
      .post(`/enterprises/${stack.rut}/customers`, customerOf(stack.rut));
    expect(notified.status).toBe(201);
    lanes.push({ stack, api, client: stack.clientAt(api.baseUrl), customer });
  };
  await Promise.all(Array.from({ length: LANES }, openLane));
  free.push(...lanes);
});
afterAll(async () => {
  for (const { stack, api } of lanes) {
    await api.stop();
    await stack[Symbol.asyncDispose]();
  }
  await receiver?.close();
  await simulator?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test.concurrent.each(CASES)(
  'the %s killed at %s, %s: the next goes on, and all is there exactly once',
  async (program, point, situation) => {
    const lane = free.pop();
    if (!lane) throw new Error('no lane is free');
    const running: ExtraProgram[] = [];
    const isHeard = !('unheard' in SITUATIONS[situation]);
    await hears(lane.stack, isHeard);
    const start = async (...options: Parameters<BareStack['start']>): Promise<ExtraProgram> => {
      const started = await lane.stack.start(...options);
      running.push(started);
      return started;
    };
    try {
      await crashAt(lane, { program, point, situation: SITUATIONS[situation] }, start);
    } finally {
      await Promise.all(running.map((one) => one.stop()));
      free.push(lane);
    }
  },
);

interface Crash {
  program: 'api' | 'worker';
  point: Failpoint;
  situation: Situation;
}

/** Kills a process at the point, lets a healthy one go on, and looks at the end. */
async function crashAt(lane: Lane, crash: Crash, start: BareStack['start']): Promise<void> {
  const { stack, client, customer } = lane;
  const { point, situation } = crash;
  const startedAt = new Date();
  const before = await numbersOf(stack);
  await reportsSmall(stack, situation.reportOnly === true);
  const receiver = situation.reportOnly ? null : RECEIVER;
  const body = aCfeBody({ itemName: situation.itemName, receiver });
  const request = { body, key: randomUUID() };
  const { first, note, others, act } = await killAt(lane, crash, request, start);
  if (!situation.callerWaits) await start('worker', QUICK);

  // What the customer does who had no answer, and may do who had one.
  const path = `/enterprises/${stack.rut}/cfes`;
  const again = await client.post<CfeAnswer>(path, request.body, { 'idempotency-key': request.key });
  expect(again.status).toBe(201);
  if (first) expect(again.data).toMatchObject({ cfe_id: first.cfe_id, numero: first.numero });
  expect(again.headers.get('idempotent-replayed')).toBe(NOTHING_STORED.includes(point) ? null : 'true');

  const same = [again.data, ...(note ? [note] : [])];
  const issued = [...same, ...others];
  for (const one of issued) {
    const ends = same.includes(one) ? situation.ends : 'ACCEPTED';
    expect((await verdictOf(customer, stack.rut, one.cfe_id)).cfe_status).toBe(ends);
    if (!situation.unheard) await expectToldOnce(stack.rut, one.cfe_id, ends);
  }
  expect(await numbersOf(stack)).toEqual([...before, ...issued.map(({ numero }) => numero)].sort(ascending));
  await expectEqualLedger(stack, same, situation.registered);
  await expectEqualLedger(stack, others, true);
  if (situation.together) {
    const accepted = [...others, ...(situation.registered ? same : [])];
    await expectShared(stack, accepted, sizesAfter(point, situation, accepted.length));
  }
  if (situation.ends === 'ACCEPTED' && !situation.reportOnly) await expectMailed(stack.rut, again.data);
  if (act) {
    expect((await act).outcome).toBe('retried');
    const acts = await stack.orm.em
      .fork()
      .find(AuditEntry, { rut: stack.rut, action: 'cfe.retry' }, { orderBy: { id: 'asc' } });
    const outcomes = acts.filter(({ at }) => at >= startedAt).map(({ outcome }) => outcome);
    // That it was asked for, and what came of it.
    expect(outcomes).toEqual([null, 'retried']);
  }
  await until('an empty outbox', 20, async () => (await waitingIn(stack)) === 0);
}

const RECEIVER = { receiver_doc_type: 'RUC', receiver_document: '219999830019', legal_name: 'Cliente SA' };
const mailboxOf = (rut: string): string => `compras@${rut}.example`;
const customerOf = (rut: string) => ({
  doc_type: RECEIVER.receiver_doc_type,
  doc_number: RECEIVER.receiver_document,
  legal_name: RECEIVER.legal_name,
  notifications: [{ type: 'EMAIL', destination: mailboxOf(rut), enabled: true }],
});

/** The receiver has the receipt by e-mail: at least once, and under one Message-ID. */
async function expectMailed(rut: string, { serie, numero }: CfeAnswer): Promise<void> {
  const xml = `${rut}-101-${serie}-${numero}.xml`;
  const ids = await until(`the e-mail with ${xml}`, 90, async () => {
    const { items } = await got
      .get(`${simulator.baseUrl}/portal/mails`, { searchParams: { to: mailboxOf(rut) } })
      .json<{ items: { message_id: string; attachments: { name: string }[] }[] }>();
    const found = items.filter(({ attachments }) => attachments.some(({ name }) => name === xml));
    return found.length > 0 ? found.map(({ message_id }) => message_id) : undefined;
  });
  expect(new Set(ids).size).toBe(1);
}

/** Whether the lane's enterprise sends its small e-Tickets or only reports them. */
const reportsSmall = ({ orm, rut }: BareStack, isOnly: boolean) =>
  orm.em.fork().nativeUpdate(Enterprise, { rut }, { smallTickets: isOnly ? 'REPORT_ONLY' : 'SEND' });

/** Whether the lane's webhook selects what happens to CFEs; a disabled one would still list it for its account. */
const hears = ({ orm }: BareStack, isHeard: boolean) =>
  orm.em.fork().nativeUpdate(Webhook, {}, { events: isHeard ? ['cfe.updated'] : ['enterprise.updated'] });

/** Issues what makes a process pass the point, and sees it die there. Answers what came of the requests. */
async function killAt(
  { stack, client }: Lane,
  { program, point, situation }: Crash,
  { body, key }: { body: unknown; key: string },
  start: BareStack['start'],
): Promise<{
  first: CfeAnswer | undefined;
  note: CfeAnswer | undefined;
  /** Those that share the sobre of the first. */
  others: CfeAnswer[];
  act: Promise<{ outcome: string }> | undefined;
}> {
  if (situation.callerWaits) await start('worker', QUICK);
  const armed = { ...QUICK, CFE_TEST_MODE: 'true', CFE_FAILPOINTS: point };
  const path = `/enterprises/${stack.rut}/cfes`;
  const headers = { 'idempotency-key': key, ...(situation.callerWaits ? { prefer: 'wait=30' } : {}) };
  const post = async (entrance: HttpClient): Promise<CfeAnswer | undefined> => {
    const answer = await entrance.post<CfeAnswer>(path, body, headers).catch(() => null);
    if (answer) expect(answer.status).toBe(201);
    return answer?.data;
  };
  const begin = async () => start(program, { ...armed, ...(await hardships(stack, situation)) });

  let first: CfeAnswer | undefined;
  let others: CfeAnswer[] = [];
  if (situation.together) {
    await closed(stack, true);
    first = await post(client);
    others = await issueMany(client, path, situation.together - 1);
    await closed(stack, situation.unsent ? 'noProbe' : false);
  }
  const doomed = await begin();
  if (!situation.together) first = await post(program === 'api' ? stack.clientAt(doomed.baseUrl) : client);
  const note = first && situation.withNote && (await issueNote(client, path, first.cfe_id));
  const act = first && situation.supported && supportActs(stack, first.cfe_id);
  try {
    await untilKilled(doomed, point);
    if (situation.twice) await untilKilled(await begin(), point);
  } finally {
    if (situation.unsent) await closed(stack, false);
  }
  return { first, note, others, act };
}

async function untilKilled(doomed: ExtraProgram, point: Failpoint): Promise<void> {
  await until('its end', 60, async () => doomed.hasEnded());
  expect(doomed.child.signalCode).toBe('SIGKILL');
  await doomed.ended;
  expect(doomed.output()).toContain(`failpoint ${point}\n`);
}

/** Has the authority count as away, or not: while it does, what is issued waits; `noProbe`: nor does anything try it. */
const closed = ({ orm }: BareStack, isClosed: boolean | 'noProbe') => {
  // What opened just now is not tried yet.
  const openSince = isClosed ? new Date(Date.now() + (isClosed === 'noProbe' ? 3_600_000 : 0)) : null;
  return orm.em
    .fork()
    .nativeUpdate(AuthorityEndpoint, { name: 'production/reception' }, { openSince, nextProbeAt: openSince });
};

async function issueMany(client: HttpClient, path: string, count: number): Promise<CfeAnswer[]> {
  const issued: CfeAnswer[] = [];
  let left = count;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await client.post<CfeAnswer>(path, aCfeBody({}));
      expect(answer.status).toBe(201);
      issued.push(answer.data);
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return issued;
}

/** They went in sobres of these sizes, the smallest first. */
async function expectShared(
  { orm, rut }: BareStack,
  accepted: readonly CfeAnswer[],
  sizes: readonly number[],
): Promise<void> {
  const rows = await orm.em.fork().execute<{ size: number }[]>(
    `select count(*)::integer as size from sobre join sobre_cfe on sobre_id = sobre.id join cfe on cfe.id = cfe_uuid
     where sobre.rut = ? and state = 'RECEIVED' and type = 'ETICKET' and numero = any(?) group by sobre.id order by size`,
    [rut, `{${accepted.map(({ numero }) => numero).join()}}`],
  );
  expect(rows.map(({ size }) => size)).toEqual(sizes);
}

/** What the process that is to be killed lacks. */
async function hardships({ orm }: BareStack, situation: Situation): Promise<Record<string, string>> {
  if (situation.keyLost) return { CFE_KEY_ENCRYPTION_KEYS: aKeyPair('other').privateText };
  if (!situation.authorityAway) return {};
  // So long already that one more failure tells it.
  const failures = FAILURES_TO_OPEN - 1;
  await orm.em.fork().nativeUpdate(AuthorityEndpoint, { name: 'production/reception' }, { failures });
  return { CFE_DGI_PRODUCTION_RECEPTION_URL: `http://127.0.0.1:${await freePort()}/` };
}

/** Support retries the CFE once it waits for it; what came of that, however late. */
async function supportActs(stack: BareStack, cfeId: string): Promise<{ outcome: string }> {
  const { temporal_address, temporal_namespace } = stack.info();
  const cli = cliOn(databaseUrlAs(stack, 'operator'), {
    TEMPORAL_ADDRESS: temporal_address,
    TEMPORAL_NAMESPACE: temporal_namespace,
    CFE_DATA_DIR: stack.dataDir,
  });
  await until('support', 30, async () => {
    const waiting = await stack.orm.em.fork().count(Cfe, { rut: stack.rut, stuckReason: { $ne: null } });
    return waiting > 0;
  });
  // Jest lets nothing be loaded while one test ends beside this one.
  const words = ['cfe', 'retry', stack.rut, cfeId, '--reason', 'it is mended', '--json'];
  const { code, stdout, stderr } = await cli.callProcess(...words);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as { outcome: string };
}

const QUICK = { CFE_POLL_LONGEST_SECONDS: '1' };
const ascending = (a: number, b: number): number => a - b;

async function issueNote(client: HttpClient, path: string, reference: string): Promise<CfeAnswer> {
  const answer = await client.post<CfeAnswer>(path, aCfeBody({ type: 'ETICKET_NC', reference }));
  expect(answer.status).toBe(201);
  return answer.data;
}

/** The numbers of all e-Tickets, and of all notes, one after the other; fails where one is missing. */
async function numbersOf({ orm, rut }: BareStack): Promise<number[]> {
  const rows = await orm.em
    .fork()
    .execute<{ type: string; numero: number; sequence: number }[]>(
      'select type, numero, sequence from cfe where rut = ? order by type, numero',
      [rut],
    );
  for (const ofType of Map.groupBy(rows, ({ type }) => type).values()) {
    const first = ofType[0]?.numero ?? 0;
    expect(ofType.map(({ numero, sequence }) => [numero, sequence])).toEqual(
      ofType.map((_, i) => [first + i, i + 1]),
    );
  }
  return rows.map(({ numero }) => numero).sort(ascending);
}

async function expectEqualLedger(
  stack: BareStack,
  issued: readonly CfeAnswer[],
  registered: boolean,
): Promise<void> {
  const held = await stack.ledger();
  for (const { cfe_id, serie, numero } of issued) {
    const [code] = cfe_id.split('-');
    const [row] = await stack.orm.em.fork().execute<{ xml: string; status: string; stuck: string | null }[]>(
      `select signed_xml as xml, status, stuck_reason as stuck from cfe where rut = ? and serie = ? and numero = ?
           and (type = 'ETICKET') = ?`,
      [stack.rut, serie, numero, code === '101'],
    );
    const found = held.filter((one) => one.cfe_type_code === code && one.numero === numero);
    const sha256 = createHash('sha256')
      .update(row?.xml ?? '')
      .digest('hex');
    expect(row?.stuck).toBeNull();
    expect(found).toMatchObject(registered ? [{ serie, sha256, times_received: 1, verdict: 'AE' }] : []);
  }
}

/** The receiver has heard of the end: by one message, however often that came. */
async function expectToldOnce(rut: string, cfeId: string, status: string): Promise<void> {
  const told = () =>
    receiver.received
      .filter(({ path }) => path === `/${rut}`)
      .filter(({ body }) => {
        const { data } = JSON.parse(body) as { data: Record<string, unknown> };
        return data['cfe_id'] === cfeId && data['status'] === status;
      });
  await until(`the event of ${cfeId}`, 60, async () => told().length > 0);
  expect(new Set(told().map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(new Set(told().map(({ body }) => body)).size).toBe(1);
}

async function waitingIn({ orm }: BareStack): Promise<number> {
  const [row] = await orm.em
    .fork()
    .execute<{ n: number }[]>('select count(*)::integer as n from outbox where dispatched_at is null');
  return row?.n ?? 0;
}
