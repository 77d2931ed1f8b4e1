import { randomInt } from 'node:crypto';
import { UnsealError } from '../../crypto/sealed.ts';
import { findCurrentSigner } from '../../db/enterprises/certificates.ts';
import type { Certificate } from '../../db/entities/enterprises.ts';
import { type DailyReport, ReportSubmission } from '../../db/entities/reports.ts';
import {
  findLastSubmission,
  findReport,
  lockReport,
  moveReport,
  type ReportKey,
} from '../../db/reports/dailyReports.ts';
import type { ReportHeading } from '../../dgi/xml/report.ts';
import type { PrepareReportResult, Stuck } from '../../domain/authority/activityResults.ts';
import { DuplicateNumber } from '../../domain/reports/ranges.ts';
import { isTaken, LAST_SEQUENCE, SPARING_FROM } from '../../domain/reports/reportStatus.ts';
import { type ReportSummary, ReportTooLarge } from '../../domain/reports/summary.ts';
import { onNextWorkingDay } from '../../domain/reports/workingDays.ts';
import { montevideoTimestamp } from '../../domain/values/montevideo.ts';
import { failpoint } from '../../failpoints.ts';
import type { Activity } from '../activities.ts';
import { withHeartbeat } from '../authority/attempt.ts';
import { type ContentDeps, dayIsOverAt, type ReportContent, readReportContent } from './readReportContent.ts';
import { escalateReport, findLastTaken, type ReportDeps } from './reports.ts';

export interface PrepareReportDeps extends ReportDeps, ContentDeps {
  /** `HH:MM` on the next working day, when the report is sent with what is known. */
  latest: string;
  /** From the authority's receipt of a report to the first query for its result, in seconds. */
  askAfterSeconds: number;
  /** Writes and signs a report with a stored certificate. Throws UnsealError if its key cannot be opened. */
  signReport: (heading: ReportHeading, summary: ReportSummary, certificate: Certificate) => string;
}

/** Shortest time between two corrections of an incomplete day, in milliseconds. */
const CORRECTIONS_APART = 600_000;

/** Ten digits: unlikely to collide with another system, or with our own numbers from before a restore. */
const ID_EMISOR = { min: 1_000_000_000, max: 10_000_000_000 };

/**
 * Finds the next step for the report of a day. If the report has to be sent, first or as a correction, its bytes,
 * sequence and number are stored before; no other submission is prepared until its result is known.
 */
export function createPrepareReport(deps: PrepareReportDeps): Activity<'prepareReport'> {
  return (key) => withHeartbeat(() => prepare(deps, key));
}

async function prepare(deps: PrepareReportDeps, key: ReportKey): Promise<PrepareReportResult> {
  const em = deps.orm.em.fork();
  const report = await findReport(em, key);
  // `report stop` withdrew the day before a report was sent.
  if (!report) return { kind: 'ended', status: 'OPEN' };
  if (report.acceptedAsIs && report.isComplete) return stepAfterTaken(deps, report);
  const last = await findLastSubmission(em, key);
  if (last?.status === 'PREPARED' || last?.status === 'SENT') return { kind: 'ready' };
  if (last && isTaken(last.status) && report.isComplete) return stepAfterTaken(deps, report);
  const now = deps.clock();
  let content: ReportContent;
  try {
    content = await readReportContent(deps, key, now);
  } catch (error) {
    if (!(error instanceof ReportTooLarge || error instanceof DuplicateNumber)) throw error;
    return escalateReport(deps, key, { reason: 'report.content', explanation: error.message });
  }
  failpoint('report.read');
  return decide(deps, { report, last, content, now });
}

interface DayState {
  readonly report: DailyReport;
  readonly last: ReportSubmission | null;
  readonly content: ReportContent;
  readonly now: Date;
}

async function decide(deps: PrepareReportDeps, day: DayState): Promise<PrepareReportResult> {
  const { report, last, content, now } = day;
  const taken = await findLastTaken(deps.orm.em.fork(), report);
  const latest = onNextWorkingDay(report.date, deps.latest);
  const mayWait = !content.isComplete && !report.sendNow;
  if (!taken && last === null && mayWait && now < latest) return waitForDay(deps, day, latest);
  if (taken?.contentHash === content.hash) return stepAfterTaken(deps, await storeDayState(deps, day, taken));
  // The day was settled with this content, which is sent only if something else changes.
  const isSettled = report.acceptedAsIs && last?.contentHash === content.hash && !report.sendNow;
  if (isSettled) return stepAfterTaken(deps, await storeDayState(deps, day));
  if (taken && mayWait && mustSpareSequence(day, taken)) return waitForDay(deps, day, null);
  const sequence = await nextSequence(deps, report, taken);
  if (sequence > LAST_SEQUENCE) {
    return escalateReport(deps, report, {
      reason: 'report.last_sequence',
      explanation: `The day has changed after its report with sequence ${LAST_SEQUENCE}, the last that the authority takes. Settle the day with the authority; then settle.`,
    });
  }
  return store(deps, day, sequence);
}

/** Returns whether a correction of an incomplete day must wait: a day has few sequences. */
function mustSpareSequence({ report, last, now }: DayState, taken: ReportSubmission): boolean {
  if (taken.sequence >= SPARING_FROM || now < dayIsOverAt(report.date)) return true;
  return last?.status !== 'REFUSED' && now.getTime() - taken.createdAt.getTime() < CORRECTIONS_APART;
}

/** Returns the sequence after the last accepted one, or the sequence from the authority's list after a refusal. */
async function nextSequence(
  { orm }: PrepareReportDeps,
  key: ReportKey,
  taken: ReportSubmission | null,
): Promise<number> {
  const report = await findReport(orm.em.fork(), key);
  return Math.max(report?.nextSequence ?? 1, (taken?.sequence ?? 0) + 1);
}

/** Returns the next step once the authority has the current report. */
function stepAfterTaken(
  { askAfterSeconds }: PrepareReportDeps,
  { status, isComplete, acceptedAsIs }: DailyReport,
): PrepareReportResult {
  const isFinal =
    status === 'CONSISTENT' || status === 'SUPERSEDED' || (acceptedAsIs && status !== 'RECEIVED');
  if (isFinal && isComplete) return { kind: 'ended', status };
  if (isFinal) return { kind: 'waits', status, what: WAITS_FOR_CHANGES, mostMilliseconds: LONGEST_WAIT };
  return { kind: 'ask', status, isComplete, askAfterMilliseconds: askAfterSeconds * 1_000 };
}

const WAITS_FOR_CHANGES =
  'Some numbers or rates of the day are not known yet; the report is corrected when they are.';
const LONGEST_WAIT = 21_600_000;
const LONGEST_WAIT_BEFORE_SENDING = 600_000;

async function waitForDay(
  deps: PrepareReportDeps,
  day: DayState,
  latest: Date | null,
): Promise<PrepareReportResult> {
  const { content, now } = day;
  const { status } = await storeDayState(deps, day);
  const { verdicts, undecided } = content.waitsFor;
  const what = `It waits for verdicts (${verdicts}), decisions on numbers refused for E06 (${undecided}), and rates (${content.missingRates}).`;
  const left = latest === null ? LONGEST_WAIT : latest.getTime() - now.getTime();
  const untilOver = dayIsOverAt(day.report.date).getTime() - now.getTime();
  const bounds = [left, latest === null ? LONGEST_WAIT : LONGEST_WAIT_BEFORE_SENDING, untilOver];
  return { kind: 'waits', status, what, mostMilliseconds: Math.min(...bounds.filter((bound) => bound > 0)) };
}

/**
 * Stores the state of the day when nothing is to be sent. `current`: a submission that already reports this state, as after
 * a refused correction that is no longer needed.
 */
async function storeDayState(
  { orm }: PrepareReportDeps,
  { report, content, now }: DayState,
  current?: ReportSubmission,
): Promise<DailyReport> {
  return orm.em.fork().transactional(async (em) => {
    const row = await lockReport(em, report);
    row.isComplete = content.isComplete;
    row.lookedAt = now;
    row.stuckReason = null;
    if (current) row.sendNow = false;
    if (current && isTaken(current.status) && row.status === 'REFUSED') {
      await moveReport(em, row, { status: current.status, sequence: current.sequence }, now);
    }
    return row;
  });
}

/** Writes, signs and stores the submission; of two attempts at once, one stores it. */
async function store(
  deps: PrepareReportDeps,
  { report, last, content, now }: DayState,
  sequence: number,
): Promise<PrepareReportResult> {
  const { rut, environment, date } = report;
  const idEmisor = BigInt(randomInt(ID_EMISOR.min, ID_EMISOR.max));
  const heading = { rut, date, idEmisor, sequence, signedAt: montevideoTimestamp(now) };
  const xml = await signReportXml(deps, heading, content.summary, environment);
  if (typeof xml !== 'string') return escalateReport(deps, report, xml);
  await deps.orm.em.fork().transactional(async (em) => {
    const row = await lockReport(em, report);
    if ((await findLastSubmission(em, row))?.id !== last?.id) return;
    row.isComplete = content.isComplete;
    row.lookedAt = now;
    row.sendNow = false;
    row.stuckReason = null;
    row.acceptedAsIs = false;
    em.create(ReportSubmission, {
      rut,
      environment,
      date,
      sequence,
      idEmisor,
      status: 'PREPARED',
      xml,
      contentHash: content.hash,
      types: [...content.summary.types],
      sentAt: null,
      answeredAt: null,
      authorityId: null,
      reasons: null,
      createdAt: now,
    });
  });
  failpoint('report.stored');
  return { kind: 'ready' };
}

/** Returns the signed XML, or why it cannot be signed. */
async function signReportXml(
  { orm, clock, signReport }: PrepareReportDeps,
  heading: ReportHeading,
  summary: ReportSummary,
  environment: ReportKey['environment'],
): Promise<string | Pick<Stuck, 'reason' | 'explanation'>> {
  const certificate = await findCurrentSigner(orm.em.fork(), heading.rut, environment);
  const now = clock();
  if (!certificate || certificate.revokedAt || now < certificate.notBefore || now > certificate.notAfter) {
    return {
      reason: 'signing',
      explanation:
        'The report cannot be signed: the enterprise has no certificate that is valid now. Upload one; then retry.',
    };
  }
  try {
    return signReport(heading, summary, certificate);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    return {
      reason: 'signing',
      explanation:
        'The report cannot be signed: the private key of the certificate cannot be opened (is its key-encryption key configured?). Configure it, or upload a new certificate; then retry.',
    };
  }
}
