import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addAuthorityCertificates } from '../../../src/commands/authority/addAuthorityCertificates.ts';
import { Sobre } from '../../../src/db/entities/authority.ts';
import { Certificate } from '../../../src/db/entities/enterprises.ts';
import { OutboxMessage } from '../../../src/db/entities/operations.ts';
import type { LeasedMessage } from '../../../src/db/outbox.ts';
import type { VerdictResult } from '../../../src/domain/authority/activityResults.ts';
import { createGatekeeper } from '../../../src/gate/gatekeeper.ts';
import { createLogger } from '../../../src/logger.ts';
import { createDispatcher, type Dispatcher } from '../../../src/outbox/dispatcher.ts';
import { startApi, type TestApi } from '../../support/api/api.ts';
import { idleOutbox } from '../../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database/database.ts';
import { type NotedDatabase, notingStatements } from '../../support/database/statements.ts';
import {
  ackCfe,
  ackSobre,
  authorityKeys,
  credentialsOf,
  exception,
  soapAnswer,
} from '../../support/dgi/answers.ts';
import { answers, aServer } from '../../support/dgi/aServer.ts';
import { aReadyEnterprise } from '../../support/enterprises/enterprises.ts';
import { aCfeBody } from '../../support/receipts/cfeBodies.ts';
import { AUTHORITY_RUT_VARIABLES, aRut } from '../../support/receipts/papers.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';
import { authorityActivities } from '../../support/temporal/authorityActivities.ts';
import { openTemporal, type TestTemporal } from '../../support/temporal/temporal.ts';
import { until } from '../../support/until.ts';

const RUT = aRut();
const CREDENTIALS = credentialsOf(RUT);
const logger = createLogger({ name: 'test', level: 'silent' });

/** CFEs of the large sobre, and the statements that all of them cost beside their requests. */
const MANY = 100;
const MOST_BESIDES = 30;

/** A second goes by between two questions, so that what was known of the breakers is old; nothing else takes time. */
let gateNow = new Date();
let temporal: TestTemporal;
let db: TestDatabase;
/** What the API says to the database, and what the worker does. */
let asked: NotedDatabase;
let noted: NotedDatabase;
let api: TestApi;
/** What starts the runs of sobres that POST has stored, while there is one. */
let kept: Dispatcher | undefined;
let authority: Awaited<ReturnType<typeof aServer>>;

beforeAll(async () => {
  temporal = await openTemporal();
  db = await cloneDatabase();
  [asked, noted] = await Promise.all([
    notingStatements(db.urlOf('api')),
    notingStatements(db.urlOf('worker')),
  ]);
  const outbox = { ...idleOutbox, dispatchStored: (message: LeasedMessage) => kept?.dispatchStored(message) };
  api = await startApi({ orm: db.orm, own: asked.orm, outbox });
  authority = await aServer();
  await addAuthorityCertificates(
    { ...api.deps, authorityRuts: AUTHORITY_RUT_VARIABLES },
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
  const page = readFileSync(join(import.meta.dirname, '../../../docs/benchmarks.md'), 'utf8');
  const section = page.split('\n## ').find((part) => part.startsWith('Statements of one CFE')) ?? '';
  const rows = [...section.matchAll(/^\| (\w+) \| `(.+)` \|/gm)];
  const steps = Map.groupBy(rows, ([, step = '']) => step);
  return Object.fromEntries(
    [...steps].map(([step, ofStep]) => [step, ofStep.map(([, , statement = '']) => statement)]),
  );
}

/** Whoever issues, and what takes what is issued to its verdict. */
async function anIssuer() {
  const caller = await api.aCaller();
  const rut = await aReadyEnterprise(db.orm, caller.accountId, {
    caes: [{ type: 'ETICKET' }],
    values: { rut: RUT },
  });
  const certificate = Buffer.from(CREDENTIALS.certificateDer);
  await db.orm.em.fork().nativeUpdate(Certificate, { rut }, { certificate });
  const activities = authorityActivities({
    orm: noted.orm,
    url: authority.url,
    credentials: CREDENTIALS,
    breakersClock: () => gateNow,
    gateClock: () => gateNow,
  });
  return {
    rut,
    posts: async (): Promise<void> => {
      const { status } = await caller.client.post(`/enterprises/${rut}/cfes`, aCfeBody());
      expect(status).toBe(201);
    },
    /** In its slot, as in quiet times. */
    takes: async (sobreId: string, ahead = 500) => {
      gateNow = new Date();
      // Ahead, as the gatekeeper gives it: signing a hundred must not make it late.
      const slot = new Date(gateNow.getTime() + ahead);
      await db.orm.em.fork().nativeUpdate(Sobre, { id: sobreId }, { slot });
      return asActivity(() => activities.takeToVerdict(sobreId), { attempt: 1 });
    },
  };
}
const unreceived = () => db.orm.em.fork().findOneOrFail(Sobre, { state: 'OPEN' });

test('a CFE costs the statements that docs/benchmarks.md names, no more and no less; and in a sobre of 100 a few', async () => {
  const { posts, takes } = await anIssuer();
  const dispatcher = createDispatcher({
    orm: asked.orm,
    temporal: { address: temporal.address },
    namespace: temporal.namespace,
    logger,
  });
  kept = dispatcher;
  const started = () =>
    until(
      'the start of its workflow',
      20,
      async () => (await db.orm.em.fork().count(OutboxMessage, { dispatchedAt: null })) === 0,
    );
  const issueOne = async (): Promise<Record<string, string[]>> => {
    asked.taken();
    await posts();
    await started();
    const [settled, ...request] = asked.taken().toReversed();
    const { id } = await unreceived();
    authorityKnows([await lastNumber()]);
    noted.taken();
    expect(await takes(id)).toMatchObject({ kind: 'ended', codes: [] });
    return { request: request.toReversed(), start: settled ? [settled] : [], sobre: noted.taken() };
  };
  try {
    // The first one finds out who signs for the authority, and when the key was last used.
    await issueOne();
    const alone = await issueOne();
    expect(alone).toEqual(written());
    expect(Object.values(alone).flat().length).toBeLessThanOrEqual(12);

    // One that was sent and not received yet has the others wait, and share the next sobre.
    await posts();
    await started();
    const { id: first } = await unreceived();
    asked.taken();
    for (let i = 0; i < MANY; i += 1) await posts();
    const requests = asked.taken().length;
    authorityKnows([(await lastNumber()) - MANY]);
    await takes(first);
    noted.taken();
    const keeper = createGatekeeper({
      orm: noted.orm,
      outbox: dispatcher,
      logger,
      sendsPerSecond: 5,
      sobreMost: MANY,
    });
    await keeper.look();
    await started();
    const { id } = await unreceived();
    authorityKnows(await numbersIn(id));
    expect(Object.keys(endingsOf(await takes(id, 3_000)))).toHaveLength(MANY);
    const rest = [...noted.taken(), ...asked.taken()].length;
    expect(requests).toBe(MANY * (alone['request']?.length ?? 0));
    expect(rest).toBeLessThanOrEqual(MOST_BESIDES);
  } finally {
    kept = undefined;
    await dispatcher.close();
  }
}, 120_000);

const endingsOf = (result: VerdictResult) => (result.kind === 'ended' ? result.endings : {});

/** The numbers of the CFEs of a sobre, by place. */
async function numbersIn(sobreId: string): Promise<number[]> {
  const rows = await db.orm.em
    .fork()
    .execute<{ numero: number }[]>(
      'select numero from sobre_cfe join cfe on cfe.id = cfe_uuid where sobre_cfe.sobre_id = ? order by place',
      [sobreId],
    );
  return rows.map(({ numero }) => numero);
}

async function lastNumber(): Promise<number> {
  const [row] = await db.orm.em.fork().execute<{ last: number }[]>('select max(numero) as last from cfe');
  return row?.last ?? 0;
}

/** The authority has the next sobre, with CFEs of these numbers, and their verdicts at the second question. */
function authorityKnows(numbers: readonly number[]): void {
  const receipts = numbers
    .map(
      (numero, index) =>
        `<ACKCFE_Det><Nro_ordinal>${index + 1}</Nro_ordinal><TipoCFE>101</TipoCFE><Serie>A</Serie><NroCFE>${numero}</NroCFE><Estado>AE</Estado></ACKCFE_Det>`,
    )
    .join('');
  const verdicts = [exception(105), ackCfe({ rut: RUT, receipts })];
  authority.behaves((response, request) => {
    const asks = String(request.headers['soapaction']).includes('EFACCONSULTARESTADOENVIO');
    const [, idemisor = ''] = /<idemisor>(\d+)</i.exec(authority.requests.at(-1)?.body ?? '') ?? [];
    if (asks) gateNow = new Date(gateNow.getTime() + 1_000);
    const answer = asks
      ? soapAnswer('EFACCONSULTARESTADOENVIO', verdicts.shift() ?? '')
      : soapAnswer('EFACRECEPCIONSOBRE', ackSobre({ rut: RUT, idemisor }));
    answers(answer)(response, request);
  });
}
