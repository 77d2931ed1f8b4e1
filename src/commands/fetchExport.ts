import type { ReceiptExport } from '../db/entities/ReceiptExport.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Notes that somebody fetches the file of an export: it leaves with all receipts of a month. Whether they may is asked before. */
export async function fetchExport(
  deps: CommandDeps,
  { id, rut }: Pick<ReceiptExport, 'id' | 'rut'>,
): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    audited(deps, em, { action: 'export.fetch', subject: id, rut }, deps.clock());
  });
}
