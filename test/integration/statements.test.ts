import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addAuthorityCertificates } from '../../src/commands/addAuthorityCertificates.ts';
import { Certificate } from '../../src/db/entities/enterprises.ts';
import { OutboxMessage } from '../../src/db/entities/operations.ts';
import { Cfe } from '../../src/db/entities/receipts.ts';
import { createLogger } from '../../src/logger.ts';
import { createDispatcher } from '../../src/outbox/dispatcher.ts';
import { asActivity } from '../support/activityContext.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { authorityActivities } from '../support/authorityActivities.ts';
import { aCfeBody } from '../support/cfeBodies.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import {
  ackCfe,
  ackSobre,
  authorityKeys,
  credentialsOf,
  exception,
  soapAnswer,
} from '../support/dgi/answers.ts';
import { answers, aServer } from '../support/dgi/aServer.ts';
import { aReadyEnterprise } from '../support/enterprises.ts';
import { AUTHORITY_RUTS, aRut } from '../support/papers.ts';
import { type NotedDatabase, notingStatements } from '../support/statements.ts';
import { openTemporal, type TestTemporal } from '../support/temporal.ts';
import { until } from '../support/until.ts';

const RUT = aRut();
const CREDENTIALS = credentialsOf(RUT);
const logger = createLogger({ name: 'test', level: 'silent' });

/** A second goes by before each activity, so that what an earlier one knew of the breakers is old. */
let breakersNow = new Date();
let temporal: TestTemporal;
let db: TestDatabase;
/** What the API says to the database, and what the worker does. */
let asked: NotedDatabase;
let noted: NotedDatabase;
let api: TestApi;
let authority: Awaited<ReturnType<typeof aServer>>;

beforeAll(async () => {
  temporal = await openTemporal();
  db = await cloneDatabase();
  [asked, noted] = await Promise.all([
    notingStatements(db.urlOf('api')),
    notingStatements(db.urlOf('worker')),
  ]);
  api = await startApi({ orm: db.orm, own: asked.orm });
  authority = await aServer();
  await addAuthorityCertificates(
    { ...api.deps, authorityRuts: AUTHORITY_RUTS },
    { pem: authorityKeys().certificate.toString() },
  );
});
afterAll(async () => {
  await authority.stop();
  await api[Symbol.asyncDispose]();
  await Promise.all([asked.orm.close(true), noted.orm.close(true)]);
  await db[Symbol.asyncDispose]();
  await temporal[Symbol.asyncDispose]();
});

/** What the page says: each step with its statements, in order. */
function written(): Record<string, string[]> {
  const page = readFileSync(join(import.meta.dirname, '../../docs/benchmarks.md'), 'utf8');
  const section = page.split('\n## ').find((part) => part.startsWith('Statements of one CFE')) ?? '';
  const rows = [...section.matchAll(/^\| (\w+) \| `(.+)` \|/gm)];
  const steps = Map.groupBy(rows, ([, step = '']) => step);
  return Object.fromEntries(
    [...steps].map(([step, ofStep]) => [step, ofStep.map(([, , statement = '']) => statement)]),
  );
}

test('a CFE costs the statements that docs/benchmarks.md names, no more and no less', async () => {
  const caller = await api.aCaller();
  const rut = await aReadyEnterprise(db.orm, caller.accountId, {
    caes: [{ type: 'ETICKET' }],
    values: { rut: RUT },
  });
  const certificate = Buffer.from(CREDENTIALS.certificateDer);
  await db.orm.em.fork().nativeUpdate(Certificate, { rut }, { certificate });
  const post = () => caller.client.post<{ cfe_id: string }>(`/enterprises/${rut}/cfes`, aCfeBody());
  const activities = authorityActivities({
    orm: noted.orm,
    url: authority.url,
    credentials: CREDENTIALS,
    clock: () => new Date(),
    breakersClock: () => breakersNow,
  });
  const dispatcher = createDispatcher({
    orm: noted.orm,
    temporal: { address: temporal.address },
    namespace: temporal.namespace,
    logger,
  });
  const issueOne = async (): Promise<Record<string, string[]>> => {
    asked.taken();
    expect((await post()).status).toBe(201);
    const request = asked.taken();
    const em = db.orm.em.fork();
    const [cfe] = await em.find(Cfe, { rut, status: 'PENDING' }, { orderBy: { sequence: 'asc' } });
    if (!cfe) throw new Error('no CFE was stored');
    authorityKnows(cfe.numero);
    noted.taken();
    dispatcher.dispatchSoon();
    await until(
      'the start of its workflow',
      20,
      async () => (await em.count(OutboxMessage, { dispatchedAt: null })) === 0,
    );
    const start = noted.taken();
    const run = (activity: (uuid: string) => Promise<unknown>) => {
      breakersNow = new Date(breakersNow.getTime() + 1_000);
      return asActivity(() => activity(cfe.id), { attempt: 1 });
    };
    expect(await run(activities.signCfe)).toEqual({ kind: 'signed' });
    const sign = noted.taken();
    expect(await run(activities.submitCfe)).toEqual({ kind: 'received' });
    const submit = noted.taken();
    expect(await run(activities.awaitVerdict)).toEqual({ kind: 'decided', status: 'ACCEPTED', codes: [] });
    return { request, start, sign, submit, await: noted.taken() };
  };
  try {
    // The first one finds out who signs for the authority, and when the key was last used.
    await issueOne();
    expect(await issueOne()).toEqual(written());
  } finally {
    await dispatcher.close();
  }
});

/** The authority has the sobre of that number, and its verdict at the second question. */
function authorityKnows(numero: number): void {
  const receipt = `<TipoCFE>101</TipoCFE><Serie>A</Serie><NroCFE>${numero}</NroCFE>`;
  const verdicts = [exception(105), ackCfe({ rut: RUT, receipt })];
  authority.behaves((response, request) => {
    const asks = String(request.headers['soapaction']).includes('EFACCONSULTARESTADOENVIO');
    const answer = asks
      ? soapAnswer('EFACCONSULTARESTADOENVIO', verdicts.shift() ?? '')
      : soapAnswer('EFACRECEPCIONSOBRE', ackSobre({ rut: RUT, idemisor: String(numero) }));
    answers(answer)(response, request);
  });
}
