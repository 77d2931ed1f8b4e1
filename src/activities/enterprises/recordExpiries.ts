import {
  listRutsWithDocuments,
  listRutsWithUnreportedExpiries,
  loadWarnedEnterprises,
  recordDueWarnings,
  recordExpiryEvent,
} from '../../db/enterprises/warnings.ts';
import { annulUnusedNumbers, listExpiredCaes } from '../../db/numbers/numbers.ts';
import type { Orm } from '../../db/orm.ts';
import { lockNumbering } from '../../db/receipts/cfes.ts';
import type { ExpiriesResult } from '../../domain/authority/activityResults.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { LEAST_UUID } from '../../domain/values/uuid.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';

/** Enterprises, or CAEs, read at a time. */
const PAGE = 100;

interface ExpiryDeps {
  orm: Orm;
  clock: () => Date;
  /** Enterprises, or CAEs, read at a time; default 100. */
  page?: number;
}

/**
 * Annuls the unused numbers of expired CAEs (docs/contract.md#numbers), then records `enterprise.updated`
 * once for each enterprise with an expired certificate or CAE, and every due warning, one transaction per
 * enterprise. Returns the number of enterprises with an `enterprise.updated`.
 */
export function createRecordExpiries(deps: ExpiryDeps): Activity<'recordExpiries'> {
  return () =>
    withHeartbeat(async () => {
      await annulAllNumbers(deps);
      const result = await recordAllExpiries(deps);
      await recordAllWarnings(deps);
      return result;
    });
}

/** A request checked before midnight that takes its number later finds none left and is checked again. */
async function annulAllNumbers({ orm, clock, page = PAGE }: ExpiryDeps): Promise<void> {
  const now = clock();
  const today = montevideoDate(now);
  let after: string | undefined = LEAST_UUID;
  while (after !== undefined) {
    const caes = await listExpiredCaes(orm.em.fork(), { today, after, limit: page });
    for (const { id, dayAfter, numberStart, numberEnd, ...numbering } of caes) {
      await orm.em.fork().transactional(async (em) => {
        await lockNumbering(em, numbering);
        const of = { reason: 'cae.expired', reportDate: dayAfter, now } as const;
        await annulUnusedNumbers(em, id, { from: numberStart, to: numberEnd }, of);
      });
    }
    after = caes.length < page ? undefined : caes.at(-1)?.id;
  }
}

async function recordAllExpiries({ orm, clock, page = PAGE }: ExpiryDeps): Promise<ExpiriesResult> {
  const now = clock();
  let enterprises = 0;
  let after = '';
  for (;;) {
    const ruts = await listRutsWithUnreportedExpiries(orm.em.fork(), { now, after, limit: page });
    for (const rut of ruts) {
      if (await orm.em.fork().transactional((em) => recordExpiryEvent(em, rut, now))) enterprises += 1;
    }
    const last = ruts.at(-1);
    if (last === undefined || ruts.length < page) return { kind: 'told', enterprises };
    after = last;
  }
}

async function recordAllWarnings({ orm, clock, page = PAGE }: ExpiryDeps): Promise<void> {
  const now = clock();
  let after: string | undefined = '';
  while (after !== undefined) {
    const ruts = await listRutsWithDocuments(orm.em.fork(), { after, limit: page });
    for (const enterprise of await loadWarnedEnterprises(orm.em.fork(), ruts, now)) {
      await orm.em.fork().transactional((em) => recordDueWarnings(em, enterprise, now));
    }
    after = ruts.length < page ? undefined : ruts.at(-1);
  }
}
