/** Steps shared by the activities of daily reports. */
import type { KeyObject } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { findCurrentSigner } from '../../db/enterprises/certificates.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { type DailyReport, ReportSubmission } from '../../db/entities/reports.ts';
import type { Orm } from '../../db/orm.ts';
import {
  listSubmissions,
  lockReport,
  markReportStuck,
  moveSubmission,
  type ReportKey,
  reportKey,
} from '../../db/reports/dailyReports.ts';
import type { DgiClient, FateUnknown } from '../../dgi/client.ts';
import { classifyUnclear, type Unclear } from '../../dgi/outcomes.ts';
import type { DgiCredentials } from '../../dgi/wsSecurity.ts';
import type { AuthorityReason } from '../../dgi/xml/ack.ts';
import type { Stuck } from '../../domain/authority/activityResults.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import { isTaken, type SubmissionStatus, TAKEN_STATUSES } from '../../domain/reports/reportStatus.ts';
import { authorityUnreachable } from '../authority/attempt.ts';
import { tryOpenCredentials } from '../authority/openCredentials.ts';

export interface ReportDeps {
  orm: Orm;
  clock: () => Date;
  outbox: { scheduleDispatch(): void };
  /** How long a reachable authority may be undecided before support is asked, in seconds. */
  patienceSeconds: number;
}

export interface AskingDeps extends ReportDeps {
  client: DgiClient;
  privateKeyOf: (certificate: Certificate) => KeyObject;
}

/** Marks a report as needing support; its row says why. */
export async function escalateReport(
  { orm, clock, outbox }: ReportDeps,
  key: ReportKey,
  { reason, explanation }: { reason: StuckReason; explanation: string },
): Promise<Stuck> {
  await markReportStuck(orm.em.fork(), key, reason, clock());
  outbox.scheduleDispatch();
  return { kind: 'stuck', reason, explanation };
}

/** Calls the authority with the enterprise's current certificate, unless the certificate or its key is missing. */
export async function withReportCredentials<T>(
  { orm, privateKeyOf }: Pick<AskingDeps, 'orm' | 'privateKeyOf'>,
  { rut, environment }: ReportKey,
  call: (credentials: DgiCredentials) => Promise<T>,
): Promise<T | Unclear> {
  const certificate = await findCurrentSigner(orm.em.fork(), rut, environment);
  if (!certificate) return classifyUnclear('findReport', 'no key', 'there is no certificate');
  const credentials = tryOpenCredentials(privateKeyOf, certificate);
  return credentials ? call(credentials) : classifyUnclear('findReport', 'no key');
}

/** Returns the accepted submission with the highest sequence, which counts at the authority. */
export async function findLastTaken(em: EntityManager, key: ReportKey): Promise<ReportSubmission | null> {
  const submissions = await listSubmissions(em, key);
  return (
    submissions.filter(({ status }) => isTaken(status)).toSorted((a, b) => b.sequence - a.sequence)[0] ?? null
  );
}

/** Retries an unclear answer, by throwing, or escalates it after our patience. */
export async function retryOrEscalateReport(
  deps: ReportDeps,
  key: ReportKey,
  answer: Unclear | FateUnknown,
): Promise<Stuck> {
  if (answer.kind === 'stuck') return escalateReport(deps, key, answer);
  const wasReached = answer.kind === 'fateUnknown' || answer.reached;
  if (await reportUndecidedForTooLong(deps, key, wasReached)) {
    const stuck = classifyUnclear('findReport', 'undecided');
    if (stuck.kind === 'stuck') return escalateReport(deps, key, stuck);
  }
  const after = answer.kind === 'fateUnknown' ? '; it is asked before it is sent again' : '';
  throw authorityUnreachable(`${answer.description}${after}`);
}

/** Returns whether a reachable authority has been undecided for longer than our patience; stores since when. */
export async function reportUndecidedForTooLong(
  { orm, clock, patienceSeconds }: ReportDeps,
  key: ReportKey,
  wasReached: boolean,
): Promise<boolean> {
  return orm.em.fork().transactional(async (em) => {
    const report = await lockReport(em, key);
    const now = clock();
    const since = report.undecidedSince ?? now;
    const tooLong = wasReached && now.getTime() - since.getTime() > patienceSeconds * 1_000;
    report.undecidedSince = wasReached && !tooLong ? since : null;
    return tooLong;
  });
}

/** The authority's answer on a submission. */
interface SubmissionAnswer {
  readonly to: SubmissionStatus;
  readonly authorityId: string | null;
  readonly reasons?: readonly AuthorityReason[];
  /** Why the report needs support, if it does. */
  readonly stuck?: StuckReason;
  /** The next sequence, if the authority's list shows it. */
  readonly nextSequence?: number;
}

/** Stores the authority's answer on a submission and its consequences; returns the report. */
export async function storeReportAnswer(
  { orm, clock, outbox }: Pick<ReportDeps, 'orm' | 'clock' | 'outbox'>,
  { id, ...key }: Pick<ReportSubmission, 'id'> & ReportKey,
  { to, authorityId, reasons = [], stuck, nextSequence }: SubmissionAnswer,
): Promise<DailyReport> {
  const report = await orm.em.fork().transactional(async (em) => {
    const now = clock();
    const report = await lockReport(em, reportKey(key));
    const submission = await em.findOneOrFail(ReportSubmission, { id }, { refresh: true });
    report.undecidedSince = null;
    report.stuckReason = stuck ?? null;
    if (nextSequence !== undefined) report.nextSequence = nextSequence;
    submission.authorityId = authorityId ?? submission.authorityId;
    submission.answeredAt ??= now;
    if (reasons.length > 0) submission.reasons = [...reasons];
    await moveSubmission(em, { report, submission, to }, now);
    if (isTaken(to)) {
      const { rut, environment, date, sequence } = submission;
      const before = {
        rut,
        environment,
        date,
        sequence: { $lt: sequence },
        status: { $in: [...TAKEN_STATUSES] },
      };
      // The accepted submission with the highest sequence counts.
      await em.nativeUpdate(ReportSubmission, before, { status: 'SUPERSEDED' });
    }
    return report;
  });
  outbox.scheduleDispatch();
  return report;
}
