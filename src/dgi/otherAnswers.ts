/** Turns the authority's answers about daily reports, the registry and electronic issuers into results. */
import type { Element } from '@xmldom/xmldom';
import type { StuckReason } from '../domain/authority/stuckReason.ts';
import type { RegistryRecord } from '../domain/enterprises/registryRecord.ts';
import type { TakenStatus } from '../domain/reports/reportStatus.ts';
import { type FailureReading, NoAnswer, stripLeadingZeros } from './answers.ts';
import { classifyUnclearReading, type FateUnknown, requireValue } from './cfeAnswers.ts';
import { type AuthorityAnswer, explainStuck, outcomeOf, type Unclear } from './outcomes.ts';
import type { AckReport, AuthorityReason } from './xml/ack.ts';
import type { ListedIssuer } from './xml/issuers.ts';
import { childrenNamed, elementAt, textAt } from './xml/parse.ts';
import { recordOfStatus } from './xml/registry.ts';

// Reports.

/** The first answer to the report of a day. */
export type SendReportAnswer =
  | { readonly kind: 'received'; readonly authorityId: string }
  | {
      readonly kind: 'refused';
      readonly reasons: AuthorityReason[];
      readonly authorityId: string | null;
      /** For support: the problem, and how to fix it. */
      readonly stuck: { readonly reason: StuckReason; readonly explanation: string };
    }
  /** R05, R06: refused, and retried automatically. */
  | {
      readonly kind: 'sequence' | 'early';
      readonly reasons: AuthorityReason[];
      readonly authorityId: string | null;
    }
  | { readonly kind: 'duplicate' }
  | FateUnknown
  | Unclear;
/** The authority's state of a report of ours. */
export type FindReportAnswer =
  | { readonly kind: 'taken'; readonly status: TakenStatus; readonly authorityId: string }
  | { readonly kind: 'refused'; readonly authorityId: string }
  | { readonly kind: 'absent' }
  | Unclear;
/** One report of a day, as the authority lists it. */
export interface AuthorityReport {
  readonly idEmisor: string;
  readonly authorityId: string | undefined;
  /** AR, BR, DR, ER, FR. */
  readonly state: string;
}

/** All reports of a day, from any system of the company. */
export type ListReportsAnswer =
  | { readonly kind: 'listed'; readonly reports: readonly AuthorityReport[] }
  | Unclear;

/** An answer about a report as a key of the table of outcomes, with its data. */
interface ReportReading<S extends 'sendReport' | 'findReport'> {
  readonly answer: AuthorityAnswer<S>;
  readonly detail?: string | undefined;
  readonly reasons?: readonly AuthorityReason[];
  /** The authority's number of a report. */
  readonly authorityId?: string | undefined;
}

/** The reasons for refusing a report (MotivosRechazo) that have a row in the table. */
const REPORT_REFUSALS = ['R01', 'R02', 'R03', 'R04', 'R05', 'R06'] as const;

/** Reads the answer to the report of a day. Among several reasons, one that needs support comes first. */
export function readReportAck(ack: AckReport): ReportReading<'sendReport'> {
  const { state, idReceptor, reasons } = ack;
  if (state === 'AR' && idReceptor !== undefined) return { answer: 'AR', authorityId: idReceptor };
  if (state === 'AR') throw new NoAnswer('unreadable');
  const codes = reasons.map(({ code }) => code);
  const known = state === 'BR' ? REPORT_REFUSALS.find((refusal) => codes.includes(refusal)) : undefined;
  const detail = known === undefined ? [state, ...codes].join(' ') : undefined;
  return { answer: known ?? 'BR', detail, reasons, authorityId: idReceptor };
}

export function toSendReportAnswer(reading: ReportReading<'sendReport'>): SendReportAnswer {
  const outcome = outcomeOf('sendReport', reading.answer);
  const { reaction } = outcome;
  const refusal = { reasons: [...(reading.reasons ?? [])], authorityId: reading.authorityId ?? null };
  if (reaction === 'received') return { kind: 'received', authorityId: requireValue(reading.authorityId) };
  if (reaction === 'refused')
    return { kind: 'refused', ...refusal, stuck: explainStuck(outcome.reason, reading.detail) };
  if (reaction === 'sequence' || reaction === 'early') return { kind: reaction, ...refusal };
  if (reaction === 'duplicate') return { kind: 'duplicate' };
  if (reaction === 'fateUnknown')
    return { kind: 'fateUnknown', description: reading.detail ?? reading.answer };
  return classifyUnclearReading('sendReport', reading);
}

/** Reads the answer to EFACCONSULTARENVIOSREPORTE: all reports of a day, refused ones included. */
export function readReports(answer: Element): AuthorityReport[] {
  const list = elementAt(answer, 'Ackconsultaenviosreporte');
  if (!list) throw new NoAnswer('unreadable');
  const collection = elementAt(list, 'ColeccionDatosReporte');
  return (collection ? childrenNamed(collection, 'DatosReporte') : []).map((report) => {
    const [idEmisor, state] = [textAt(report, 'IdEmisor'), textAt(report, 'Estado')];
    if (idEmisor === undefined || state === undefined) throw new NoAnswer('unreadable');
    return { idEmisor: stripLeadingZeros(idEmisor), state, authorityId: textAt(report, 'IdReceptor') };
  });
}

const REPORT_STATES = ['AR', 'DR', 'ER', 'FR', 'BR'] as const;

/** Finds a report of ours among those of its day. A refused repeat may be listed with the received one. */
export function findListedReport(
  reports: readonly AuthorityReport[],
  idEmisor: bigint,
): ReportReading<'findReport'> {
  const ours = reports.filter((report) => report.idEmisor === idEmisor.toString());
  const report = ours.find(({ state }) => state !== 'BR') ?? ours[0];
  if (!report) return { answer: 'not listed' };
  const known = REPORT_STATES.find((state) => state === report.state);
  if (known === undefined) return { answer: 'other state', detail: `state ${report.state.slice(0, 10)}` };
  if (report.authorityId === undefined) throw new NoAnswer('unreadable');
  return { answer: `listed ${known}`, authorityId: report.authorityId };
}

export function toFindReportAnswer(reading: ReportReading<'findReport'>): FindReportAnswer {
  const outcome = outcomeOf('findReport', reading.answer);
  if (outcome.reaction === 'taken')
    return { kind: 'taken', status: outcome.status, authorityId: requireValue(reading.authorityId) };
  if (outcome.reaction === 'refused')
    return { kind: 'refused', authorityId: requireValue(reading.authorityId) };
  if (outcome.reaction === 'absent') return { kind: 'absent' };
  return classifyUnclearReading('findReport', reading);
}

/** Classifies a query about reports that got no answer. */
export const toUnclearReportAnswer = (reading: FailureReading): Unclear =>
  classifyUnclearReading('findReport', reading);

// The registry, and the list of issuers.

/** The result of a look-up in the registry. */
export type LookUpAnswer =
  | { readonly kind: 'found'; readonly record: RegistryRecord }
  | { readonly kind: 'unregistered' }
  | Unclear;

/** Returns the result of a look-up of `rut`. */
export function toLookUpAnswer(
  rut: string,
  reading: FailureReading | { readonly answer: 'record'; readonly record: RegistryRecord },
): LookUpAnswer {
  const outcome = outcomeOf('lookUp', reading.answer);
  if (outcome.reaction === 'found')
    return {
      kind: 'found',
      record: 'record' in reading ? reading.record : recordOfStatus(rut, outcome.activityStatus),
    };
  if (outcome.reaction === 'unregistered') return { kind: 'unregistered' };
  return classifyUnclearReading('lookUp', reading);
}

/** The list of electronic issuers. */
export type ListIssuersAnswer =
  | { readonly kind: 'listed'; readonly issuers: Iterable<ListedIssuer> }
  | Unclear;

export function toListIssuersAnswer(
  reading: FailureReading | { readonly answer: 'list'; readonly issuers: Iterable<ListedIssuer> },
): ListIssuersAnswer {
  if ('issuers' in reading) return { kind: 'listed', issuers: reading.issuers };
  return classifyUnclearReading('listIssuers', reading);
}
