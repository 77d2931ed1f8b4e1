/** The steps of a test run: its receipts, its annulled number, its report. All are safe to repeat. */
import { listTestItems, lockOpenTestItem, lockTestRun } from '../../db/enterprises/homologations.ts';
import { listUnexpiredCaes } from '../../db/numbers/numbers.ts';
import { shareTransaction } from '../../db/orm.ts';
import type { LeasedMessage } from '../../db/outbox.ts';
import { lastRatesBefore } from '../../db/receipts/rates.ts';
import { testReceiptBody } from '../../domain/enterprises/testReceipts.ts';
import { placeIn } from '../../domain/enterprises/testRunPlan.ts';
import { chooseCae } from '../../domain/numbers/cae.ts';
import type { CfeType } from '../../domain/receipts/cfeTypes.ts';
import { annulNumbers } from '../numbers/annulNumbers.ts';
import { type IssueDeps, issueCfe } from '../receipts/issueCfe.ts';
import { sendReport } from '../reports/sendReport.ts';
import type { CommandDeps } from '../steps/deps.ts';

/**
 * Issues the receipt at a place of a run, in one transaction, unless it was issued before. Returns false once the run no
 * longer issues; throws as `issueCfe` does.
 */
export async function issueTestReceipt(deps: IssueDeps, runId: string, place: number): Promise<boolean> {
  const starts: LeasedMessage[] = [];
  const isRunning = await deps.orm.em.fork().transactional(async (em) => {
    // The lock makes a stop wait for this receipt, which is then the last.
    const { status, rut, accountId, day } = await lockTestRun(em, runId);
    if (status !== 'RUNNING') return false;
    const row = await lockOpenTestItem(em, { runId, place });
    if (!row) return true;
    const items = await listTestItems(em, runId);
    const item = { place, type: row.type, sequence: null, status: null };
    const rates = await lastRatesBefore(em, day);
    const body = testReceiptBody({
      type: row.type,
      day,
      issuerRut: rut,
      rates,
      ...placeIn(items, item),
    });
    const outbox = { ...deps.outbox, dispatchStored: (message: LeasedMessage) => void starts.push(message) };
    const cfe = await issueCfe(
      { ...deps, orm: shareTransaction(em), outbox },
      { accountId, rut, environment: 'sandbox', body, sendsAll: true },
    );
    row.cfeUuid = cfe.id;
    return true;
  });
  for (const message of starts) deps.outbox.dispatchStored(message);
  return isRunning;
}

/** Annuls the next number of a type, unless the run has annulled one. */
export async function annulTestNumber(deps: CommandDeps, runId: string, type: CfeType): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    const run = await lockTestRun(em, runId);
    if (run.annulledAt !== null || run.status !== 'RUNNING') return;
    const { rut, day } = run;
    const numbering = { rut, environment: 'sandbox', type } as const;
    const cae = chooseCae(await listUnexpiredCaes(em, { ...numbering, today: day }), day);
    if (!cae) return;
    const number = cae.lastNumber + 1;
    const span = { serie: cae.serie, from: number, to: number };
    await annulNumbers({ ...deps, orm: shareTransaction(em) }, { ...numbering, ...span, reason: REASON });
    run.annulledAt = deps.clock();
  });
}

/** Asks for the report of a run's day, once; throws as `sendReport` does. */
export async function requestTestReport(deps: CommandDeps, runId: string): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    const run = await lockTestRun(em, runId);
    if (run.status !== 'REPORTING' || run.reportAskedAt !== null) return;
    const day = { rut: run.rut, environment: 'sandbox', date: run.day } as const;
    await sendReport({ ...deps, orm: shareTransaction(em) }, { ...day, reason: REASON });
    run.reportAskedAt = deps.clock();
  });
  deps.outbox.scheduleDispatch();
}

/** The reason in the audit. */
const REASON = 'test run';
