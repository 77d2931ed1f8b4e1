import type { Registry } from 'prom-client';
import { countUnaccountedCaes } from '../db/numbers/numbers.ts';
import {
  type ExpiryMeasures,
  measureExpiries,
  measureWork,
  type WorkMeasures,
} from '../db/operations/measures.ts';
import { getPool, isDatabaseReachable, type Orm } from '../db/orm.ts';
import { montevideoDate } from '../domain/values/montevideo.ts';
import { gauge } from './instruments.ts';
import { createReading } from './reading.ts';

/** Longest wait of a scrape for the database; Prometheus itself gives up after 10 s. */
const PATIENCE_MILLISECONDS = 3_000;
/** Cache time for work in progress, so that frequent scrapes share one reading. */
const WORK_KEPT_MILLISECONDS = 5_000;
/** CAEs and certificates change slowly, and their queries cost more. */
const EXPIRIES_KEPT_MILLISECONDS = 60_000;
/** The query counts every CFE, to prove that no number is unaccounted for. */
const NUMBERS_KEPT_MILLISECONDS = 3_600_000;

const ENVIRONMENTS = ['production', 'sandbox'] as const;
const OPEN_STATUSES = ['PENDING', 'RECEIVED'] as const;

/**
 * Measures, in every process, whether the database answers and the use of its connections. Call it before
 * other metrics that query the database: a scrape's own queries must not count as waiting.
 */
export async function measureDatabase(registry: Registry, orm: Orm): Promise<void> {
  const pool = await getPool(orm);
  gauge(registry, 'cfe_database_pool_connections', (own) => {
    own.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
    own.set({ state: 'idle' }, pool.idleCount);
  });
  gauge(registry, 'cfe_database_pool_waiting', (own) => own.set(pool.waitingCount));

  const up = createReading({
    read: () => isDatabaseReachable(orm),
    keepMilliseconds: 1_000,
    patienceMilliseconds: PATIENCE_MILLISECONDS,
  });
  gauge(registry, 'cfe_database_up', async (own) => own.set((await up()) ? 1 : 0));
}

/**
 * Measures open CFEs, the outbox, deliveries, CAEs and certificates from the database. Every worker exports the same
 * values, so expressions take the maximum. Does not export values that it cannot read.
 */
export function measureWorkAndExpiries(options: {
  registry: Registry;
  orm: Orm;
  clock: () => Date;
  keep?: { workMilliseconds: number; expiriesMilliseconds: number };
}): void {
  const { registry, orm, clock } = options;
  const { workMilliseconds, expiriesMilliseconds } = options.keep ?? {
    workMilliseconds: WORK_KEPT_MILLISECONDS,
    expiriesMilliseconds: EXPIRIES_KEPT_MILLISECONDS,
  };
  const work = createReading({
    read: () => measureWork(orm.em.fork(), clock()),
    keepMilliseconds: workMilliseconds,
    patienceMilliseconds: PATIENCE_MILLISECONDS,
  });
  const expiries = createReading({
    read: () => measureExpiries(orm.em.fork(), clock(), montevideoDate(clock())),
    keepMilliseconds: expiriesMilliseconds,
    patienceMilliseconds: PATIENCE_MILLISECONDS,
  });
  exportWork(registry, work);
  exportExpiries(registry, expiries);
}

/** Measures whether every number is accounted for; the first scrapes after a start have no value yet. */
export function measureNumbers(registry: Registry, orm: Orm): void {
  const unaccounted = createReading({
    read: () => countUnaccountedCaes(orm.em.fork()),
    keepMilliseconds: NUMBERS_KEPT_MILLISECONDS,
    patienceMilliseconds: PATIENCE_MILLISECONDS,
  });
  gauge(registry, 'cfe_unaccounted_caes', async (own) => {
    const counts = await unaccounted();
    if (counts) for (const environment of ENVIRONMENTS) own.set({ environment }, counts[environment]);
  });
}

function exportWork(registry: Registry, work: () => Promise<WorkMeasures | undefined>): void {
  for (const [name, value] of [
    ['cfe_open_cfes', 'count'],
    ['cfe_oldest_open_cfe_seconds', 'oldestSeconds'],
  ] as const) {
    gauge(registry, name, async (own) => {
      const rows = (await work())?.openCfes;
      if (!rows) return;
      for (const environment of ENVIRONMENTS)
        for (const status of OPEN_STATUSES) own.set({ environment, status }, 0);
      for (const row of rows) own.set({ environment: row.environment, status: row.status }, row[value]);
    });
  }
  gauge(registry, 'cfe_needs_support', async (own) => {
    for (const { environment, stuckReason, count } of (await work())?.stuckCfes ?? [])
      own.set({ environment, stuck_reason: stuckReason }, count);
  });
  gauge(registry, 'cfe_reports', async (own) => {
    for (const { status, count } of (await work())?.reports ?? []) own.set({ status }, count);
  });
  gauge(registry, 'cfe_reports_due_seconds', async (own) => {
    const seconds = (await work())?.reportsDueSeconds ?? null;
    if (seconds !== null) own.set(seconds);
  });
  gauge(registry, 'cfe_reports_need_support', async (own) => {
    for (const { environment, stuckReason, count } of (await work())?.stuckReports ?? [])
      own.set({ environment, stuck_reason: stuckReason }, count);
  });
  gauge(registry, 'cfe_run_stands_seconds', async (own) => {
    const measures = await work();
    if (measures) own.set(measures.runIdleSeconds);
  });
  gauge(registry, 'cfe_authority_breaker_open', async (own) => {
    for (const { endpoint, openSince } of (await work())?.endpoints ?? [])
      own.set({ endpoint }, openSince === null ? 0 : 1);
  });
  gauge(registry, 'cfe_authority_waiting_cfes', async (own) => {
    for (const { endpoint, waiting } of (await work())?.endpoints ?? []) own.set({ endpoint }, waiting);
  });
  for (const [name, part, value] of [
    ['cfe_outbox_messages', 'outbox', 'count'],
    ['cfe_outbox_oldest_seconds', 'outbox', 'oldestSeconds'],
    ['cfe_webhook_waiting_deliveries', 'deliveries', 'count'],
    ['cfe_webhook_oldest_waiting_seconds', 'deliveries', 'oldestSeconds'],
    ['cfe_mails_waiting', 'mails', 'count'],
    ['cfe_mails_oldest_waiting_seconds', 'mails', 'oldestSeconds'],
    ['cfe_exports_under_way', 'exports', 'count'],
    ['cfe_exports_still_seconds', 'exports', 'oldestSeconds'],
  ] as const) {
    gauge(registry, name, async (own) => {
      const measures = await work();
      if (measures) own.set(measures[part][value]);
    });
  }
}

function exportExpiries(registry: Registry, expiries: () => Promise<ExpiryMeasures | undefined>): void {
  for (const [name, value] of [
    ['cfe_cae_numbers_left', 'numbersLeft'],
    ['cfe_cae_days_left', 'daysLeft'],
  ] as const) {
    gauge(registry, name, async (own) => {
      for (const row of (await expiries())?.caes ?? []) own.set({ rut: row.rut, type: row.type }, row[value]);
    });
  }
  gauge(registry, 'cfe_certificate_days_left', async (own) => {
    for (const { rut, daysLeft } of (await expiries())?.certificates ?? []) own.set({ rut }, daysLeft);
  });
}
