import { randomBytes } from 'node:crypto';
import { ReceiptExport } from '../db/entities/receipts.ts';
import { enqueue } from '../db/outbox.ts';
import {
  countCfesOfMonth,
  countKeptExports,
  countRunningExports,
  exportMessage,
  findExport,
  findExportOwner,
  findRunningExport,
  markExportStopped,
} from '../db/receiptExports.ts';
import { takeAdvisoryLock } from '../db/sql.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { MOST_EXPORTS, MOST_PRINTED, MOST_RUNNING_EXPORTS } from '../domain/receiptExport.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';
import { requireStanding } from './steps/standing.ts';

const RANDOM_BYTES = 3;

/** Whose receipts, dated in which month (`YYYY-MM`), and whether their printed forms too. */
export interface ExportRequest {
  readonly rut: string;
  readonly environment: Environment;
  readonly month: string;
  readonly withPdfs: boolean;
}

/** Printed forms were asked for, of more receipts than are drawn for one file. */
export class TooManyToPrint extends Refusal {
  readonly count: number;

  constructor(count: number) {
    super('INVALID_INPUT', `Printed forms come for up to ${MOST_PRINTED} receipts; the month has ${count}.`);
    this.count = count;
  }
}

/**
 * Has a month's receipts put into one file. Whoever asks while the same is being made gets that one. Refuses a month without
 * receipts, printed forms of more than MOST_PRINTED (TooManyToPrint), more than MOST_EXPORTS files of an enterprise, and more than
 * MOST_RUNNING_EXPORTS that are being made for the account that owns it (INVALID_INPUT all).
 * Whether the caller may is asked before.
 */
export async function requestExport(deps: CommandDeps, request: ExportRequest): Promise<ReceiptExport> {
  const { rut, environment, month, withPdfs } = request;
  const now = deps.clock();
  const asked = await deps.orm.em.fork().transactional(async (em) => {
    await requireStanding(deps, em, rut);
    const accountId = await findExportOwner(em, rut);
    // Whoever asks for a file of this account's waits for those who do so already.
    await takeAdvisoryLock(em, `exports of ${accountId}`);
    const running = await findRunningExport(em, request);
    if (running) {
      // Should its workflow have been terminated, it begins again; one that runs is not disturbed.
      enqueue(em, exportMessage(running), now);
      return running;
    }
    if ((await countKeptExports(em, rut, now)) >= MOST_EXPORTS)
      throw refusal('export.too_many', `There are ${MOST_EXPORTS} files of this enterprise already.`);
    if ((await countRunningExports(em, accountId)) >= MOST_RUNNING_EXPORTS) {
      const message = `${MOST_RUNNING_EXPORTS} files of this account are being made already.`;
      throw refusal('export.account_busy', message);
    }
    const total = await countCfesOfMonth(em, { rut, environment, month, createdAt: now });
    if (total === 0) throw refusal('export.nothing', 'There are no receipts of that month.');
    if (withPdfs && total > MOST_PRINTED) throw new TooManyToPrint(total);
    const stored = em.create(ReceiptExport, {
      ...request,
      id: `${rut}-${environment === 'sandbox' ? 'sandbox-' : ''}${month}-${randomBytes(RANDOM_BYTES).toString('hex')}`,
      actor: deps.actor ?? 'service',
      state: 'RUNNING',
      total,
      done: 0,
      leftOut: 0,
      entries: 0,
      contentBytes: 0,
      directoryBytes: 0,
      parts: 0,
      lastCfe: null,
      createdAt: now,
      movedAt: now,
      endedAt: null,
    });
    await em.flush();
    audited(deps, em, { action: 'export.request', subject: stored.id, rut }, now);
    enqueue(em, exportMessage(stored), now);
    return stored;
  });
  deps.outbox.scheduleDispatch();
  return asked;
}

/** In one of the closed codes, with the fault by which the console finds its words. */
const refusal = (code: string, message: string): Refusal =>
  new Refusal('INVALID_INPUT', message, { faults: [{ path: '', code, message }] });

/** Notes that somebody fetches the file of an export: it leaves with all receipts of a month. Whether they may is asked before. */
export async function fetchExport(
  deps: CommandDeps,
  { id, rut }: Pick<ReceiptExport, 'id' | 'rut'>,
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    audited(deps, em, { action: 'export.fetch', subject: id, rut }, deps.clock());
  });
}

/**
 * Gives up a file that is being made; its workflow ends by itself, and what there is of the file goes. One that has ended stays as
 * it is. Refuses one that is not there (NOT_FOUND). Whether the caller may is asked before.
 */
export function stopExport(deps: CommandDeps, id: string): Promise<void> {
  return deps.orm.em.fork().transactional(async (em) => {
    const found = await findExport(em, id);
    if (!found) throw new Refusal('NOT_FOUND', `There is no export ${id}.`);
    const now = deps.clock();
    if (!(await markExportStopped(em, id, now))) return;
    audited(deps, em, { action: 'export.stop', subject: id, rut: found.rut }, now);
  });
}
