import { randomBytes } from 'node:crypto';
import { ReceiptExport } from '../../db/entities/receipts.ts';
import { enqueue } from '../../db/outbox.ts';
import {
  countCfesOfMonth,
  countKeptExports,
  countRunningExports,
  exportMessage,
  findExport,
  findExportOwner,
  findRunningExport,
  markExportStopped,
} from '../../db/receipts/receiptExports.ts';
import { takeAdvisoryLock } from '../../db/sql.ts';
import type { Environment } from '../../domain/receipts/cfeTypes.ts';
import { MOST_EXPORTS, MOST_PRINTED, MOST_RUNNING_EXPORTS } from '../../domain/receipts/receiptExport.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';
import { requireEnterpriseRole } from '../steps/requireEnterpriseRole.ts';

const RANDOM_BYTES = 3;

/** The receipts to export: month is `YYYY-MM`; `withPdfs` adds their printed forms. */
export interface ExportRequest {
  readonly rut: string;
  readonly environment: Environment;
  readonly month: string;
  readonly withPdfs: boolean;
}

/** The refusal of a file with the printed forms of too many receipts. */
export class TooManyToPrint extends Refusal {
  readonly count: number;

  constructor(count: number) {
    super('INVALID_INPUT', `Printed forms are limited to ${MOST_PRINTED} receipts; the month has ${count}.`);
    this.count = count;
  }
}

/**
 * Exports a month's receipts into one file; returns the running export of that month, if any. Throws INVALID_INPUT for a
 * month without receipts, printed forms of more than MOST_PRINTED receipts (TooManyToPrint), more than MOST_EXPORTS files of
 * an enterprise, and more than MOST_RUNNING_EXPORTS running exports of its owner. The caller checks permissions.
 */
export async function requestExport(deps: CommandDeps, request: ExportRequest): Promise<ReceiptExport> {
  const { rut, environment, month, withPdfs } = request;
  const now = deps.clock();
  const result = await deps.orm.em.fork().transactional(async (em) => {
    await requireEnterpriseRole(deps, em, rut);
    const accountId = await findExportOwner(em, rut);
    // Serializes requests for one account, so that the limits below hold.
    await takeAdvisoryLock(em, `exports of ${accountId}`);
    const running = await findRunningExport(em, request);
    if (running) {
      // Restarts a terminated workflow; a running one ignores this.
      enqueue(em, exportMessage(running), now);
      return running;
    }
    if ((await countKeptExports(em, rut, now)) >= MOST_EXPORTS)
      throw refusal('export.too_many', `This enterprise already has ${MOST_EXPORTS} files.`);
    if ((await countRunningExports(em, accountId)) >= MOST_RUNNING_EXPORTS) {
      const message = `${MOST_RUNNING_EXPORTS} files of this account are already being made.`;
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
    auditAct(deps, em, { action: 'export.request', subject: stored.id, rut }, now);
    enqueue(em, exportMessage(stored), now);
    return stored;
  });
  deps.outbox.scheduleDispatch();
  return result;
}

/** Refuses with a fault code, by which the console finds its own wording. */
const refusal = (code: string, message: string): Refusal =>
  new Refusal('INVALID_INPUT', message, { faults: [{ path: '', code, message }] });

/**
 * Audits a download of the file, which contains all receipts of a month. The caller checks permissions.
 */
export async function fetchExport(
  deps: CommandDeps,
  { id, rut }: Pick<ReceiptExport, 'id' | 'rut'>,
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    auditAct(deps, em, { action: 'export.fetch', subject: id, rut }, deps.clock());
  });
}

/**
 * Stops a running export; its workflow ends on its own and deletes the partial file. An ended one stays
 * unchanged. Throws NOT_FOUND for an unknown export. The caller checks permissions.
 */
export function stopExport(deps: CommandDeps, id: string): Promise<void> {
  return deps.orm.em.fork().transactional(async (em) => {
    const stored = await findExport(em, id);
    if (!stored) throw new Refusal('NOT_FOUND', `There is no export ${id}.`);
    const now = deps.clock();
    if (!(await markExportStopped(em, id, now))) return;
    auditAct(deps, em, { action: 'export.stop', subject: id, rut: stored.rut }, now);
  });
}
