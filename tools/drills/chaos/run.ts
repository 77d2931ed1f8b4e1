import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import got from 'got';
import { issueLocalCertificate } from '../../../local/demo/localCertificate.ts';
import { LOCAL_DEVELOPER } from '../../../local/stack/prepareStack.ts';
import type { Orm } from '../../../src/db/orm.ts';
import { CFE_TYPES } from '../../../src/domain/receipts/cfeTypes.ts';
import { montevideoDate } from '../../../src/domain/values/montevideo.ts';
import { freePort } from '../../../test/support/processes/services.ts';
import { aRut } from '../../../test/support/receipts/papers.ts';
import { startBeside, startTestStack, type TestStack } from '../../../test/support/stacks.ts';
import { until } from '../../../test/support/until.ts';
import { answering, type Receiver, startReceiver } from '../../../test/support/webhooks/receiver.ts';
import { type Chance, createChance } from './chance.ts';
import { type Kept, type Killer, keepAlive, startKilling, type Victim } from './killing.ts';
import { type LossyAuthority, startLossyAuthority } from './lossyAuthority.ts';
import { planCfes } from './plan.ts';
import { type Posted, postAll } from './posting.ts';
import { reckon } from './reckoning.ts';
import { endTheDay, reportInTheMiddle } from './reporting.ts';

/** What a run of chaos is told. */
export interface ChaosOptions {
  cfes: number;
  /** The same seed plans the same CFEs, kills in the same order and loses the same share of answers; moments differ. */
  seed: number;
  say: (line: string) => void;
}

const ENTERPRISES = 4;
/** The share of the authority's answers that is lost. */
const LOST = 0.2;
/** The share of the first messages that the customer's server drops; they come again after a minute. */
const DROPPED = 0.1;
const PER_SECOND = 5;
/** How long everything may take to settle once nobody is killed any more. */
const SETTLE_SECONDS = 420;
const WORD_EVERY_MILLISECONDS = 15_000;
/** Quick where production is patient; nothing else differs from `npm start`. */
const QUICK = { CFE_POLL_LONGEST_SECONDS: '2' };

/**
 * Runs the whole service while its processes are killed and the authority's answers get lost, and reckons up at the
 * end. Answers what is not as it must be; the data of such a run stays for a look.
 */
export async function runChaos({ cfes, seed, say }: ChaosOptions): Promise<string[]> {
  const chance = createChance(seed);
  const startedAt = performance.now();
  say(`chaos: ${cfes} CFEs, seed ${seed}`);
  const dataDir = mkdtempSync(join(tmpdir(), 'cfe-chaos-'));
  const simulatorPort = await freePort();
  const authority = await startLossyAuthority(
    `http://127.0.0.1:${simulatorPort}`,
    LOST,
    chance.fork('answers'),
  );
  const clockFile = join(dataDir, 'clock-ahead');
  const clock = { CFE_TEST_MODE: 'true', CFE_CLOCK_FILE: clockFile };
  const environment = { ...QUICK, ...clock, ...authorityAt(authority.url) };
  const closers: (() => Promise<void>)[] = [() => authority.close()];
  let wrong: string[] = ['the run was broken off'];
  try {
    const stack = await startTestStack(
      { ...environment, CFE_DATA_DIR: dataDir, CFE_SIMULATOR_PORT: String(simulatorPort) },
      { ownServers: true },
    );
    closers.push(() => stack.stop());
    const receiver = await openReceiver(stack, dropping(cfes, chance.fork('receiver')));
    closers.push(() => receiver.close());
    const { orm } = stack;
    const firstDay = montevideoDate(new Date());
    const ruts = await onboardAll(stack, say);
    const extras = {
      worker: await keepAlive(() => startBeside(stack, 'worker', environment)),
      api: await keepAlive(() => startBeside(stack, 'api', environment)),
    };
    closers.push(async () => void (await Promise.all([extras.worker.stop(), extras.api.stop()])));

    const killer = startKilling(victimsOf(stack, extras), chance.fork('kills'));
    closers.push(() => killer.stop());
    const plan = planCfes(cfes, ruts, chance.fork('plan'));
    const words = progress(orm, ruts, killer, say);
    closers.push(words.stop);
    const middle = reportInTheMiddle({ orm, stack, ruts }, cfes, say);
    const posted = await postAll(
      plan,
      {
        baseUrls: () => [stack.info().base_url, extras.api.current()?.baseUrl ?? stack.info().base_url],
        headers: await credentials(stack),
        run: `chaos ${seed}`,
      },
      {
        perSecond: PER_SECOND,
        chance: chance.fork('posting'),
        held: middle.held,
        onAnswer(answered) {
          words.answered(answered);
          middle.begin(answered);
        },
      },
    );
    await killer.allKilled;
    await killer.stop();
    say(`chaos: all answered; nobody is killed any more`);
    await settled(orm, ruts);
    say('chaos: all is settled; the day ends');
    const days = await endTheDay({ orm, stack, ruts }, firstDay, clockFile);
    const { received } = receiver;
    wrong = await reckon({ orm, stack, ruts, posted, days, heldFrom: middle.held.from, received });
    const seconds = (performance.now() - startedAt) / 1_000;
    await report({ stack, orm, ruts, posted, killer, authority, receiver, seconds, say });
  } finally {
    for (const close of closers.toReversed()) await close();
    if (wrong.length === 0) rmSync(dataDir, { recursive: true, force: true });
    else say(`chaos: data and logs of this run stay in ${dataDir}`);
  }
  return wrong;
}

/** The addresses of the authority, by way of `url`. */
const authorityAt = (url: string): Record<string, string> => ({
  CFE_DGI_PRODUCTION_RECEPTION_URL: `${url}/production/ws_efactura`,
  CFE_DGI_PRODUCTION_CONSULTATION_URL: `${url}/production/ws_consultas`,
});

/** The customer's server, told of every move of a CFE; its first answers are those of `script`. */
async function openReceiver(stack: TestStack, script: Receiver['script']): Promise<Receiver> {
  const { ca_file, ca_key_file } = stack.info();
  const [caPem, keyPem] = [readFileSync(ca_file, 'utf8'), readFileSync(ca_key_file, 'utf8')];
  const certificate = await issueLocalCertificate({ certificatePem: caPem, keyPem });
  const receiver = await startReceiver({ caPem, ...certificate });
  receiver.script.push(...script);
  const hook = ['webhook', 'add', LOCAL_DEVELOPER, '--url', receiver.url(), '--event', 'cfe.updated'];
  await stack.cli.json(...hook);
  return receiver;
}

/** As many answers as there are CFEs; some messages are dropped or refused the first time they come. */
function dropping(cfes: number, chance: Chance): Receiver['script'] {
  const known = new Set<unknown>();
  return Array.from({ length: cfes }, () => (response, request) => {
    const id = request.headers['webhook-id'];
    const isNew = !known.has(id);
    known.add(id);
    if (!isNew || !chance.happens(DROPPED)) answering(200)(response, request);
    else if (chance.happens(0.5)) answering(500)(response, request);
    else response.destroy();
  });
}

/** Enterprises that may issue all nine types; their RUTs. */
async function onboardAll(stack: TestStack, say: ChaosOptions['say']): Promise<string[]> {
  const ruts = Array.from({ length: ENTERPRISES }, aRut);
  const codes = Object.values(CFE_TYPES).map(({ code }) => code);
  for (const rut of ruts) await stack.onboard(codes, rut);
  say(`chaos: enterprises ${ruts.join(', ')} are READY`);
  return ruts;
}

async function credentials(stack: TestStack): Promise<Record<string, string>> {
  const { base_url, live_api_key } = stack.info();
  const key = { 'x-api-key': live_api_key };
  const { data } = await got
    .post(`${base_url}/tokens`, { json: {}, headers: key })
    .json<{ data: { access_token: string } }>();
  return { ...key, authorization: `Bearer ${data.access_token}` };
}

function victimsOf(stack: TestStack, extras: Readonly<Record<string, Kept>>): Victim[] {
  const parts = ['api', 'worker', 'simulator', 'temporal', 'postgres'] as const;
  return [
    ...parts.map((name) => ({ name, pid: () => stack.info().pids[name] })),
    ...Object.entries(extras).map(([name, kept]) => ({
      name: `second ${name}`,
      pid: () => kept.current()?.child.pid ?? null,
    })),
  ];
}

/** How many CFEs have no verdict yet, and how many messages to the customer's server are under way. */
async function underWay(orm: Orm, ruts: readonly string[]): Promise<{ cfes: number; deliveries: number }> {
  const [row] = await orm.em.fork().execute<{ cfes: number; deliveries: number }[]>(
    `select (select count(*)::integer from cfe where rut = any(?) and status in ('PENDING', 'RECEIVED')) as cfes,
            (select count(*)::integer from delivery where status = 'PENDING') as deliveries`,
    [`{${ruts.join(',')}}`],
  );
  return row ?? { cfes: 0, deliveries: 0 };
}

/** Resolves when all is settled, or when the time is over: what is left is told by the reckoning. */
async function settled(orm: Orm, ruts: readonly string[]): Promise<void> {
  await until('the end of everything', SETTLE_SECONDS, async () => {
    const { cfes, deliveries } = await underWay(orm, ruts);
    return cfes + deliveries === 0;
  }).catch(() => undefined);
}

/** Says every now and then how far the run is. */
function progress(
  orm: Orm,
  ruts: readonly string[],
  { kills }: Killer,
  say: ChaosOptions['say'],
): { answered: (count: number) => void; stop: () => Promise<void> } {
  let answered = 0;
  const timer = setInterval(() => {
    const killed = [...kills.values()].reduce((sum, count) => sum + count, 0);
    underWay(orm, ruts).then(
      ({ cfes, deliveries }) =>
        say(
          `chaos: ${answered} answered, ${cfes} without verdict, ${deliveries} deliveries, ${killed} kills`,
        ),
      () => say(`chaos: ${answered} answered, the database is away, ${killed} kills`),
    );
  }, WORD_EVERY_MILLISECONDS);
  return { answered: (count) => (answered = count), stop: async () => clearInterval(timer) };
}

/** Says the figures of the run. */
async function report(of: {
  stack: TestStack;
  orm: Orm;
  ruts: readonly string[];
  posted: Posted;
  killer: Killer;
  authority: LossyAuthority;
  receiver: Receiver;
  seconds: number;
  say: ChaosOptions['say'];
}): Promise<void> {
  const ledgers = await Promise.all(of.ruts.map((rut) => of.stack.ledger(rut)));
  const rows = await of.orm.em
    .fork()
    .execute<{ status: string; n: number }[]>(
      'select status, count(*)::integer as n from cfe group by status order by 1',
    );
  const [reports] = await of.orm.em
    .fork()
    .execute<{ n: number; highest: number }[]>(
      'select count(*)::integer as n, max(sequence) as highest from report_submission',
    );
  const [sobres] = await of.orm.em.fork().execute<{ received: number; cfes: number; most: number }[]>(
    `select count(*)::integer as received, sum(size)::integer as cfes, max(size)::integer as most from (
       select count(*) as size from sobre join sobre_cfe on sobre_id = sobre.id where state = 'RECEIVED' group by sobre.id) one`,
  );
  const { lost, passed } = of.authority.answers();
  const messages = of.receiver.received.map(({ headers }) => headers['webhook-id']);
  const figures: Record<string, number> = {
    'CFEs answered 201': of.posted.issued.length,
    'notes refused, their original rejected': of.posted.refused.length,
    'requests repeated': of.posted.repeats,
    'repeats answered with the first CFE': of.posted.replays,
    ...Object.fromEntries(rows.map(({ status, n }) => [status, n])),
    'sobres that were received': sobres?.received ?? 0,
    'CFEs in them': sobres?.cfes ?? 0,
    'CFEs in the fullest': sobres?.most ?? 0,
    'answers of the authority': passed,
    'answers of the authority lost': lost,
    'CFEs at the authority': ledgers.flat().length,
    'of these sent again and recognised (S08)': ledgers.flat().filter((row) => row.times_received > 1).length,
    'daily reports and corrections': reports?.n ?? 0,
    'highest sequence of a day': reports?.highest ?? 0,
    'messages at the customer’s server': messages.length,
    'of these repeated': messages.length - new Set(messages).size,
    ...Object.fromEntries([...of.killer.kills].map(([name, count]) => [`kills of ${name}`, count])),
    seconds: Math.round(of.seconds),
  };
  for (const [name, figure] of Object.entries(figures)) of.say(`${String(figure).padStart(8)}  ${name}`);
}
