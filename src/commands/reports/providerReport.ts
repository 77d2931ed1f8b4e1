import type { EntityManager } from '@mikro-orm/postgresql';
import { ProviderReportFile } from '../../db/entities/reports.ts';
import {
  findEarlierOpen,
  findEarlierReceived,
  findLastProviderReport,
  findServiceChanges,
} from '../../db/reports/providerReports.ts';
import { takeAdvisoryLock } from '../../db/sql.ts';
import type { SoftwareProvider } from '../../domain/enterprises/application.ts';
import { changesIn, type ProviderReport, periodOf } from '../../domain/reports/providerReport.ts';
import { montevideoDate } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** Writes and signs a report with the operator's certificate; `unsigned`: the XML before signing. */
export type SignProviderReport = (report: ProviderReport) => { unsigned: string; xml: string };

const LAST_SEQUENCE = 99;

/**
 * Writes and signs the operator's report of a month; null when no enterprise began or ended in the month. Another build keeps
 * the sequence of a report that was not received, and deletes such a report if it would be empty now; returns a received
 * report without change as it is. Throws INVALID_INPUT for a month that is not over, while the report of an earlier month is
 * not received, or without RUT and product of the operator.
 */
export async function buildProviderReport(
  deps: CommandDeps,
  input: { period: string; provider: SoftwareProvider; sign: () => Promise<SignProviderReport> },
): Promise<ProviderReportFile | null> {
  const { period, provider } = input;
  const { rut, product } = provider;
  const now = deps.clock();
  if (period >= periodOf(montevideoDate(now))) {
    throw new Refusal('INVALID_INPUT', `The month ${period} is not over; its report is built afterwards.`);
  }
  if (rut === '' || product === '') {
    throw new Refusal('INVALID_INPUT', 'CFE_PROVIDER_RUT and CFE_PROVIDER_PRODUCT must be set.');
  }
  const sign = await input.sign();
  return locked(deps, async (em) => {
    const changes = changesIn(period, await findServiceChanges(em, { ...monthOf(period), without: rut }));
    const last = await findLastProviderReport(em, period);
    if (changes.length === 0) {
      // An empty report is never sent, and would block later months.
      if (last?.receivedAt === null) {
        em.remove(last);
        auditAct(deps, em, { action: 'provider_report.drop', subject: `${period}-${last.sequence}` }, now);
      }
      return null;
    }
    const open = await findEarlierOpen(em, period);
    if (open !== null) {
      const which = `The report ${open.sequence} of ${open.period}`;
      throw new Refusal(
        'INVALID_INPUT',
        `${which} was not received yet: build it again, send it, then \`provider-report received ${open.period}\`.`,
      );
    }
    const earlier = await findEarlierReceived(em, period);
    if (earlier !== null && (earlier.product !== product || earlier.rut !== rut)) {
      const declared = `${earlier.rut} and ${earlier.product}`;
      throw new Refusal('INVALID_INPUT', `Earlier reports declare ${declared}: RUT and product must stay.`);
    }
    const declaresProduct = earlier === null;
    const written = (sequence: number) => sign({ rut, period, sequence, product, declaresProduct, changes });
    if (last !== null && last.receivedAt !== null && isSame(last, written(last.sequence))) return last;
    const sequence = last === null ? 1 : last.receivedAt === null ? last.sequence : last.sequence + 1;
    if (sequence > LAST_SEQUENCE) {
      throw new Refusal('INVALID_INPUT', `The month ${period} has used all ${LAST_SEQUENCE} sequences.`);
    }
    const { xml } = written(sequence);
    const values = { rut, product, xml, builtAt: now, receivedAt: null };
    const built =
      last?.sequence === sequence
        ? em.assign(last, values)
        : em.create(ProviderReportFile, { period, sequence, ...values });
    auditAct(deps, em, { action: 'provider_report.build', subject: `${period}-${sequence}` }, now);
    return built;
  });
}

/** Records that the authority has received the last report of a month. Idempotent. Throws NOT_FOUND without a report. */
export function receiveProviderReport(
  deps: CommandDeps,
  { period }: { period: string },
): Promise<ProviderReportFile> {
  return locked(deps, async (em) => {
    const last = await findLastProviderReport(em, period);
    if (!last) throw new Refusal('NOT_FOUND', `No report of the month ${period} was built.`);
    const now = deps.clock();
    last.receivedAt ??= now;
    auditAct(deps, em, { action: 'provider_report.receive', subject: `${period}-${last.sequence}` }, now);
    return last;
  });
}

/** Runs `work` one call at a time, so that a sequence is used once. */
const locked = <T>(deps: CommandDeps, work: (em: EntityManager) => Promise<T>): Promise<T> =>
  deps.orm.em.fork().transactional(async (em) => {
    await takeAdvisoryLock(em, 'provider_report');
    return work(em);
  });

/** Compares the unsigned XML: a renewed certificate changes the signature only. */
const isSame = (stored: ProviderReportFile, { unsigned }: { unsigned: string }): boolean =>
  stored.xml.startsWith(unsigned.slice(0, -'</Declaracion>'.length));

function monthOf(period: string): { from: string; to: string } {
  const month = `${period.slice(0, 4)}-${period.slice(4)}`;
  const days = new Date(Date.UTC(Number(period.slice(0, 4)), Number(period.slice(4)), 0)).getUTCDate();
  return { from: `${month}-01`, to: `${month}-${days}` };
}
