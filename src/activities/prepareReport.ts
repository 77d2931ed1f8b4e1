import { randomInt } from 'node:crypto';
import { UnsealError } from '../crypto/sealed.ts';
import { currentSigner } from '../db/certificates.ts';
import { findReport, lastSubmission, lockReport, moveReport, type ReportKey } from '../db/dailyReports.ts';
import type { Certificate } from '../db/entities/enterprises.ts';
import { type DailyReport, ReportSubmission } from '../db/entities/reports.ts';
import type { ReportHeading } from '../dgi/xml/report.ts';
import type { PrepareReportResult, Stuck } from '../domain/activityResults.ts';
import { montevideoTimestamp } from '../domain/montevideo.ts';
import { NumberTwice } from '../domain/report/ranges.ts';
import { type ReportSummary, ReportTooLarge } from '../domain/report/summary.ts';
import { isTaken, LAST_SEQUENCE, SPARING_FROM } from '../domain/reportStatus.ts';
import { onNextWorkingDay } from '../domain/workingDays.ts';
import { failpoint } from '../failpoints.ts';
import type { Activity } from './activities.ts';
import { withHeartbeat } from './steps/attempt.ts';
import {
  type ContentDeps,
  dayIsOverAt,
  type ReportContent,
  readReportContent,
} from './steps/readReportContent.ts';
import { escalateReport, type ReportDeps } from './steps/reports.ts';

export interface PrepareReportDeps extends ReportDeps, ContentDeps {
  /** `HH:MM`, of the next working day: then what is known is sent. */
  latest: string;
  /** From the authority's receipt to the first question what it made of the report, seconds. */
  askAfterSeconds: number;
  /** Writes and signs a report with a stored certificate. Throws UnsealError where its key cannot be opened. */
  signReport: (heading: ReportHeading, summary: ReportSummary, certificate: Certificate) => string;
}

/** Between two corrections of a day of which more is to come; milliseconds. */
const CORRECTIONS_APART = 600_000;

/** Ten digits: unlikely to be another system's, or one of ours from before the database was restored. */
const ID_EMISOR = { min: 1_000_000_000, max: 10_000_000_000 };

/**
 * Looks what the report of a day needs next. Where it is to be sent, first or as a correction, its bytes are stored
 * before anything is sent, with sequence and number; until what became of them is known nothing else is prepared.
 */
export function createPrepareReport(deps: PrepareReportDeps): Activity<'prepareReport'> {
  return (key) => withHeartbeat(() => prepare(deps, key));
}

async function prepare(deps: PrepareReportDeps, key: ReportKey): Promise<PrepareReportResult> {
  const em = deps.orm.em.fork();
  const report = await findReport(em, key);
  // `report stop` took the day back before anything of it was sent.
  if (!report) return { kind: 'ended', status: 'OPEN' };
  if (report.acceptedAsIs && report.isComplete) return afterTaken(deps, report);
  const last = await lastSubmission(em, key);
  if (last?.status === 'PREPARED' || last?.status === 'SENT') return { kind: 'ready' };
  if (last && isTaken(last.status) && report.isComplete) return afterTaken(deps, report);
  const now = deps.clock();
  let content: ReportContent;
  try {
    content = await readReportContent(deps, key, now);
  } catch (error) {
    if (!(error instanceof ReportTooLarge || error instanceof NumberTwice)) throw error;
    return escalateReport(deps, key, { reason: 'report.content', explanation: error.message });
  }
  failpoint('report.read');
  return decide(deps, { report, last, content, now });
}

interface Look {
  readonly report: DailyReport;
  readonly last: ReportSubmission | null;
  readonly content: ReportContent;
  readonly now: Date;
}

async function decide(deps: PrepareReportDeps, look: Look): Promise<PrepareReportResult> {
  const { report, last, content, now } = look;
  const taken = await lastTaken(deps, report);
  const latest = onNextWorkingDay(report.date, deps.latest);
  const mayWait = !content.isComplete && !report.sendNow;
  if (!taken && last === null && mayWait && now < latest) return waits(deps, look, latest);
  if (taken?.contentHash === content.hash) return afterTaken(deps, await note(deps, look, taken));
  // Settled: what was left unsaid then is not sent until something else changes.
  const isSettled = report.acceptedAsIs && last?.contentHash === content.hash && !report.sendNow;
  if (isSettled) return afterTaken(deps, await note(deps, look));
  if (taken && mayWait && isSpared(look, taken)) return waits(deps, look, null);
  const sequence = await nextSequence(deps, report, taken);
  if (sequence > LAST_SEQUENCE) {
    return escalateReport(deps, report, {
      reason: 'report.last_sequence',
      explanation: `The day has changed after its report with sequence ${LAST_SEQUENCE}, the last that the authority takes. Settle the day with the authority; then settle.`,
    });
  }
  return store(deps, look, sequence);
}

/** Whether a correction has to wait while more of the day is to come: its sequences are to last, and each is a file. */
function isSpared({ report, last, now }: Look, taken: ReportSubmission): boolean {
  if (taken.sequence >= SPARING_FROM || now < dayIsOverAt(report.date)) return true;
  return last?.status !== 'REFUSED' && now.getTime() - taken.createdAt.getTime() < CORRECTIONS_APART;
}

/** The submission that counts at the authority as far as we know: the one taken with the highest sequence. */
async function lastTaken({ orm }: PrepareReportDeps, { rut, environment, date }: ReportKey) {
  const all = await orm.em.fork().find(ReportSubmission, { rut, environment, date });
  return all.filter(({ status }) => isTaken(status)).toSorted((a, b) => b.sequence - a.sequence)[0] ?? null;
}

/** One above what the authority took; after a refusal for its sequence, what its list said is the next. */
async function nextSequence(
  { orm }: PrepareReportDeps,
  key: ReportKey,
  taken: ReportSubmission | null,
): Promise<number> {
  const report = await findReport(orm.em.fork(), key);
  return Math.max(report?.nextSequence ?? 1, (taken?.sequence ?? 0) + 1);
}

/** What follows once the authority has the report as it is. */
function afterTaken(
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
  'Some numbers of the day, or rates, are not known yet; it is corrected when they are.';
const LONGEST_WAIT = 21_600_000;
const LONGEST_WAIT_BEFORE_SENDING = 600_000;

async function waits(deps: PrepareReportDeps, look: Look, latest: Date | null): Promise<PrepareReportResult> {
  const { content, now } = look;
  const { status } = await note(deps, look);
  const { verdicts, undecided } = content.waitsFor;
  const what = `It waits for verdicts (${verdicts}), decisions on numbers refused for E06 (${undecided}), and rates (${content.ratesLacking}).`;
  const left = latest === null ? LONGEST_WAIT : latest.getTime() - now.getTime();
  const untilOver = dayIsOverAt(look.report.date).getTime() - now.getTime();
  const bounds = [left, latest === null ? LONGEST_WAIT : LONGEST_WAIT_BEFORE_SENDING, untilOver];
  return { kind: 'waits', status, what, mostMilliseconds: Math.min(...bounds.filter((bound) => bound > 0)) };
}

/**
 * Stores what was seen of the day, where nothing is to be sent; `stands`: the submission that tells all of it already, as
 * after a correction that was refused and is not needed any more.
 */
async function note(
  { orm }: PrepareReportDeps,
  { report, content, now }: Look,
  stands?: ReportSubmission,
): Promise<DailyReport> {
  return orm.em.fork().transactional(async (em) => {
    const row = await lockReport(em, report);
    row.isComplete = content.isComplete;
    row.lookedAt = now;
    row.stuckReason = null;
    if (stands) row.sendNow = false;
    if (stands && isTaken(stands.status) && row.status === 'REFUSED') {
      await moveReport(em, row, { status: stands.status, sequence: stands.sequence }, now);
    }
    return row;
  });
}

/** Writes, signs and stores the submission; of two looks at once, one does. */
async function store(
  deps: PrepareReportDeps,
  { report, last, content, now }: Look,
  sequence: number,
): Promise<PrepareReportResult> {
  const { rut, environment, date } = report;
  const idEmisor = BigInt(randomInt(ID_EMISOR.min, ID_EMISOR.max));
  const heading = { rut, date, idEmisor, sequence, signedAt: montevideoTimestamp(now) };
  const xml = await signed(deps, heading, content.summary, environment);
  if (typeof xml !== 'string') return escalateReport(deps, report, xml);
  await deps.orm.em.fork().transactional(async (em) => {
    const row = await lockReport(em, report);
    if ((await lastSubmission(em, row))?.id !== last?.id) return;
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

/** The signed text, or what stands in the way, for support. */
async function signed(
  { orm, clock, signReport }: PrepareReportDeps,
  heading: ReportHeading,
  summary: ReportSummary,
  environment: ReportKey['environment'],
): Promise<string | Pick<Stuck, 'reason' | 'explanation'>> {
  const certificate = await currentSigner(orm.em.fork(), heading.rut, environment);
  const now = clock();
  if (!certificate || now < certificate.notBefore || now > certificate.notAfter) {
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
