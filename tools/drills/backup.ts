/**
 * `npm run backup:drill`: the service loses its database and Temporal's at once, is restored from a base backup and the
 * archived WAL, and goes on (docs/backup.md). Everything is real and thrown away afterwards; it ends with 0 only when
 * all of it was shown.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CfeView } from '../../local/demo/customer.ts';
import { DEMO_RUT as RUT } from '../../local/demo/onboarding.ts';
import { preparePostgres } from '../../local/stack/postgres/postgres.ts';
import type { PostgresPlace } from '../../local/stack/postgres/postgresPrograms.ts';
import { migrateDatabase } from '../../local/stack/prepareStack.ts';
import { endProcess } from '../../local/stack/processes/processes.ts';
import { openWatchdog } from '../../local/stack/processes/watchdog.ts';
import { openOrm } from '../../src/db/orm.ts';
import { samePasswords } from '../../test/support/database/database.ts';
import { freePort } from '../../test/support/processes/services.ts';
import { type RunningPostgres, startPostgres } from '../../test/support/stack/servers.ts';
import { startTestStack, type TestStack } from '../../test/support/stacks.ts';
import { until } from '../../test/support/until.ts';
import { archiveUpToNow, archiveWal, restoreBaseBackup, takeBaseBackup } from './backup/baseBackup.ts';
import { allAccepted, compare, issueMany, numbersOf, rowsOf, startLoad } from './backup/load.ts';
import { recover } from './backup/recover.ts';

/** Numbers that are passed over without having been given, so that none given late is met. */
const MARGIN = 2;

const startedAt = performance.now();
const say = (line: string): void =>
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${line}`);

const folder = mkdtempSync(join(tmpdir(), 'cfe-drill-'));
const [archive, base, stackDir] = [join(folder, 'archive'), join(folder, 'base'), join(folder, 'stack')];
const watchdog = openWatchdog();
const cluster = {
  dataDir: folder,
  password: randomBytes(18).toString('hex'),
  port: await freePort(),
  say,
  watchdog,
};
const closers: (() => Promise<unknown>)[] = [];

/** What was answered 201: before the recovery point, and after it. */
interface Answered {
  readonly kept: CfeView[];
  /** Of those kept: taken and not sent yet at the recovery point. */
  readonly underWay: CfeView[];
  readonly sentLater: CfeView[];
  readonly neverSent: CfeView[];
}

async function startStack(databaseUrl: string): Promise<TestStack> {
  await migrateDatabase({ databaseUrl, rolePasswords: samePasswords(databaseUrl) });
  const stack = await startTestStack({ DATABASE_URL: databaseUrl, CFE_DATA_DIR: stackDir });
  closers.push(() => stack.stop());
  say('The service runs: API, worker, authority, Temporal.');
  return stack;
}

/** A service at work: backed up meanwhile, with a recovery point and work done after it; then PostgreSQL is lost. */
async function workAndLoss(postgres: RunningPostgres, place: PostgresPlace): Promise<Answered> {
  const { databaseUrl } = postgres;
  const stack = await startStack(databaseUrl);
  await stack.onboard([101]);
  const load = startLoad(stack);
  await load.reaches(10);
  await takeBaseBackup(databaseUrl, place, base);
  const during = load.issued.length;
  say(`Base backup taken by file copy while CFEs were issued; ${during} so far.`);
  await load.reaches(during + 10);
  await load.end();

  const worker = stack.info().pids.worker ?? 0;
  process.kill(worker, 'SIGSTOP');
  const underWay = await issueMany(stack, 3);
  await stack.customer.send('POST', `enterprises/${RUT}/validate-efactura`, {});
  const orm = await openOrm({ databaseUrl, pool: 1 });
  await archiveUpToNow(orm);
  const kept = [...load.issued, ...underWay];
  say(`Recovery point: ${kept.length} CFEs were answered 201, the last ${underWay.length} not sent yet.`);

  process.kill(worker, 'SIGCONT');
  const sentLater = await issueMany(stack, 4);
  await allAccepted(orm, kept.length + sentLater.length);
  await orm.close(true);
  process.kill(worker, 'SIGSTOP');
  const neverSent = await issueMany(stack, 2);
  say(
    `After it: those ${underWay.length} sent, ${sentLater.length} more sent, ${neverSent.length} more taken.`,
  );

  await endProcess(postgres.mark, [{ signal: 'SIGKILL', graceMs: 5_000 }]);
  watchdog.drop(postgres.mark);
  rmSync(place.data, { recursive: true });
  process.kill(worker, 'SIGCONT');
  await stack.stop();
  rmSync(join(stackDir, 'temporal'), { recursive: true });
  say('PostgreSQL killed and its data removed; Temporal’s removed as well.');
  return { kept, underWay, sentLater, neverSent };
}

/** Restores the database and shows that it holds all up to the recovery point. */
async function restore(place: PostgresPlace, { kept, underWay }: Answered) {
  restoreBaseBackup(place, base, archive);
  const postgres = await startPostgres(cluster);
  closers.push(() => postgres.stop());
  const { databaseUrl } = postgres;
  const orm = await openOrm({ databaseUrl, pool: 1 });
  closers.push(() => orm.close(true));
  await until('the end of the recovery', 60, async () => {
    const over = 'select not pg_is_in_recovery() as over';
    const [row] = await orm.em.fork().execute<{ over: boolean }[]>(over);
    return row?.over;
  });
  const found = await rowsOf(orm);
  assert.deepEqual(numbersOf(found), numbersOf(kept));
  const settled = found.filter(({ status }) => status === 'ACCEPTED').length;
  assert.ok(settled > 0 && settled <= found.length - underWay.length);
  say(
    `Restored: all ${found.length} CFEs up to the recovery point, ${found.length - settled} of them under way.`,
  );
  return { orm, databaseUrl };
}

async function drill(): Promise<void> {
  const place = await preparePostgres(cluster);
  archiveWal(place, archive);
  const lostPostgres = await startPostgres(cluster);
  closers.push(() => lostPostgres.stop());
  const answered = await workAndLoss(lostPostgres, place);
  const { kept, sentLater, neverSent } = answered;
  const { orm, databaseUrl } = await restore(place, answered);

  const lost = [...sentLater, ...neverSent];
  const last = Math.max(...numbersOf(lost)) + MARGIN;
  const skipped = await recover({ databaseUrl, stackDir, rut: RUT, last, say });
  assert.deepEqual(numbersOf(skipped.filter((one) => one.at_authority)), numbersOf(sentLater));
  assert.deepEqual(numbersOf(skipped), [...numbersOf(lost), last - 1, last]);

  const stack = await startStack(databaseUrl);
  const after = await issueMany(stack, 5);
  await allAccepted(orm, kept.length + after.length);
  assert.deepEqual(
    numbersOf(after),
    [1, 2, 3, 4, 5].map((n) => last + n),
  );
  const rows = await rowsOf(orm);
  assert.deepEqual(numbersOf(rows), numbersOf([...kept, ...after]));
  assert.equal(
    new Set([...kept, ...lost, ...after].map(({ cfe_id }) => cfe_id)).size,
    rows.length + lost.length,
  );
  const { total } = await stack.customer.get<{ total: number }>(`enterprises/${RUT}/cfes?limit=1`);
  assert.equal(total, rows.length);
  const again = compare(rows, await stack.ledger(RUT), numbersOf(sentLater));
  say(
    `Table and ledger are equal: ${rows.length} CFEs ACCEPTED, byte for byte; ${again} were brought again and recognised.`,
  );
  await until('the check of the login', 30, async () => {
    const { status } = await stack.customer.get<{ status: string }>(`enterprises/${RUT}/efactura-status`);
    return status === 'VALID';
  });
  say('The check of the enterprise’s login, asked for before, has ended.');
}

try {
  await drill();
  say(
    'Shown: nothing that was archived is lost, nothing is at the authority twice, no number is given twice.',
  );
} finally {
  for (const close of closers.toReversed()) await close();
  watchdog.close();
  rmSync(folder, { recursive: true, force: true });
}
