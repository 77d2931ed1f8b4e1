import type { EntityManager } from '@mikro-orm/postgresql';
import { findFirstIdemisor, peekNextIdemisor, setNextIdemisor } from '../../db/authority/sobres.ts';
import { readReadyFacts } from '../../db/enterprises/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { findCaes } from '../../db/numbers/numbers.ts';
import { findReportedBefore, findReportingDays, setReportingDays } from '../../db/reports/dailyReports.ts';
import { isAuthorizedIssuer } from '../../domain/enterprises/enterpriseObject.ts';
import { type MigrationStep, migrationSteps } from '../../domain/enterprises/migration.ts';
import { currentCaeStartFindings } from '../../domain/numbers/caeStart.ts';
import { addDays, montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** Most days that `from` may be in the past: an earlier day is a mistake, because the other system has reported since. */
const MOST_DAYS_BACK = 31;

/** The result of a move from another system. */
export interface Migration {
  /** The first day, in Montevideo, on which this service issues and reports. */
  readonly reportsFrom: string;
  /** The number of the next sobre. */
  readonly idemisor: bigint;
  readonly todo: readonly MigrationStep[];
}

/**
 * Takes an enterprise over from another system at midnight (Montevideo) of the day `from`: the other system reports earlier
 * days, receipts of earlier days are refused (`enterprise.not_yet`), and the next sobre gets `idemisor`, if given. Operators
 * only. Idempotent. Throws NOT_FOUND for an unknown enterprise, INVALID_INPUT if this service has issued or reported for an
 * earlier day, or has used the Idemisor.
 */
export function migrateEnterprise(
  deps: CommandDeps,
  {
    rut,
    from,
    idemisor,
    reason,
  }: { rut: string; from: string; idemisor?: number | undefined; reason: string },
): Promise<Migration> {
  const act = {
    action: 'enterprise.migrate',
    reason: `${from}${idemisor === undefined ? '' : ` ${idemisor}`}: ${reason}`,
  } as const;
  return changeEnterprise(deps, rut, act, async (em, enterprise, now) => {
    // A repeat may come after receipts and sobres of that day.
    const isRepeat = enterprise.migratedOn === from;
    if (!isRepeat) {
      await requireNothingBefore(em, enterprise, from);
      const days = await findReportingDays(em, rut);
      const earliest = addDays(montevideoDate(now), -MOST_DAYS_BACK);
      if (from < earliest && (days === null || from < days.from))
        throw refusal(
          `Reports of the days since ${from} would be sent again: name ${earliest} or a later day.`,
        );
      enterprise.migratedOn = from;
      await setReportingDays(em, rut, { from });
    }
    const numbering = { rut, environment: 'production' } as const;
    if (idemisor !== undefined && !(await setNextIdemisor(em, numbering, idemisor))) {
      const first = isRepeat ? await findFirstIdemisor(em, numbering) : null;
      if (first !== BigInt(idemisor)) {
        throw refusal(`Sobres of ${rut} in production already have the number ${idemisor} or one above it.`);
      }
    }
    const today = montevideoDate(now);
    const ready = await readReadyFacts(em, enterprise, now);
    const caes = await findCaes(em, rut, 'production');
    return {
      reportsFrom: from,
      idemisor: await peekNextIdemisor(em, numbering, today > from ? today : from),
      todo: migrationSteps({
        from,
        hasCertificate: ready.validCertificate,
        hasCae: ready.okCae,
        hasDoubtfulCae: caes.some((cae) => cae.startOpen || currentCaeStartFindings(cae, today).length > 0),
        isReady: enterprise.status === 'READY',
        isListed: isAuthorizedIssuer(enterprise),
      }),
    };
  });
}

/** Throws INVALID_INPUT if this service issued or reported for a day before `from`, or if reports start later. */
async function requireNothingBefore(
  em: EntityManager,
  { rut, issuerSince }: Enterprise,
  from: string,
): Promise<void> {
  if (issuerSince !== null && issuerSince > from)
    throw refusal(`${rut} is an issuer since ${issuerSince}, which is after ${from}.`);
  const last = await findReportedBefore(em, rut, from);
  if (last === null) return;
  const act =
    last.kind === 'report' ? 'a daily report was sent' : 'a receipt was signed or a number annulled';
  throw refusal(`For ${last.date}, before ${from}, ${act} here: one system reports the whole of a day.`);
}

const refusal = (message: string): Refusal => new Refusal('INVALID_INPUT', message);
