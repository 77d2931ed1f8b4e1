import { type MoveDeps, storeMoves } from '../../../src/activities/authority/storeMoves.ts';
import { Cfe } from '../../../src/db/entities/receipts.ts';
import type { Orm } from '../../../src/db/orm.ts';
import type { FinalStatus } from '../../../src/domain/receipts/cfeStatus.ts';
import type { RejectionReason } from '../../../src/domain/receipts/rejection.ts';
import { idleGatekeeper, idleOutbox } from '../commandDeps.ts';

/** Stores the verdict on a CFE, as it stands now, as the run of its sobre would; whether it was one. */
export async function decideCfe(
  {
    orm,
    clock = () => new Date(),
    sandboxMails,
    outbox = idleOutbox,
  }: {
    orm: Orm;
    clock?: () => Date;
    sandboxMails?: readonly string[] | undefined;
    outbox?: MoveDeps['outbox'];
  },
  id: string,
  { status, reasons = [] }: { status: FinalStatus; reasons?: readonly RejectionReason[] },
): Promise<boolean> {
  const cfe = await orm.em.fork().findOneOrFail(Cfe, { id });
  const deps = { orm, clock, outbox, gatekeeper: idleGatekeeper, sandboxMails };
  return (await storeMoves(deps, [{ cfe, to: status, reasons }], { sobreId: null })).length > 0;
}
