/** The authority's services over HTTP; answers and failures are returned as values. */
import { X509Certificate } from 'node:crypto';
import { rucOf } from '../crypto/x509.ts';
import type { Environment } from '../domain/receipts/cfeTypes.ts';
import { montevideoTimestamp } from '../domain/values/montevideo.ts';
import { checkSubject, NoAnswer, readDocument, throwOnException } from './answers.ts';
import { type Calls, createCalls, type DgiCaller, type DgiClientOptions, type Trace } from './calls.ts';
import {
  type AskVerdictAnswer,
  type FindCfeAnswer,
  type FindSobreAnswer,
  readCfeState,
  readReception,
  readShipments,
  type SendAnswer,
  toAskVerdictAnswer,
  toFindCfeAnswer,
  toFindSobreAnswer,
  toSendAnswer,
} from './cfeAnswers.ts';
import {
  type FindReportAnswer,
  findListedReport,
  type ListIssuersAnswer,
  type ListReportsAnswer,
  type LookUpAnswer,
  readReportAck,
  readReports,
  type SendReportAnswer,
  toFindReportAnswer,
  toListIssuersAnswer,
  toLookUpAnswer,
  toSendReportAnswer,
  toUnclearReportAnswer,
} from './otherAnswers.ts';
import { wrapInXmlData, writeVerdictQuery } from './soap.ts';
import type { DgiCredentials } from './wsSecurity.ts';
import { readAckCfe, readAckReport, readAckSobre } from './xml/ack.ts';
import { readIssuers } from './xml/issuers.ts';
import { UnreadableXml } from './xml/parse.ts';
import { readRegistryRecord } from './xml/registry.ts';
import { element, optionalPlain, plain } from './xml/write.ts';

export { type AuthorityCall, type RecordedCall, recordCalls } from './calls.ts';
export type {
  AskVerdictAnswer,
  FateUnknown,
  FindCfeAnswer,
  FindSobreAnswer,
  SendAnswer,
  SobreTicket,
} from './cfeAnswers.ts';
export type {
  FindReportAnswer,
  ListIssuersAnswer,
  ListReportsAnswer,
  LookUpAnswer,
  SendReportAnswer,
} from './otherAnswers.ts';

interface SobreToSend {
  readonly idemisor: bigint;
  readonly xml: string;
}
/** A signed request with a sobre, ready to send. */
export interface SignedSobre {
  readonly kind: 'signed';
  readonly environment: Environment;
  /** The RUT of the signing certificate, which the answer must name. */
  readonly rut: string | undefined;
  readonly idemisor: bigint;
  readonly envelope: string;
}
/** Limits on sending a sobre. */
interface SendOptions {
  /** Nothing is sent after this moment: a suspended process may wake up after another process has decided otherwise. */
  readonly leaveBy?: Date;
  /** Whether the call probes an unavailable endpoint. */
  readonly isProbe?: boolean;
}
interface SobreQuery {
  readonly idemisor: bigint;
  readonly from: Date;
  readonly to: Date;
}
interface ReportToSend {
  readonly idEmisor: bigint;
  readonly xml: string;
  readonly leaveBy?: Date;
}
interface FiscalNumber {
  readonly typeCode: number;
  readonly serie: string;
  readonly numero: number;
}

/** A client of the authority. Calls resolve with their outcome and reject for bugs only. */
export interface DgiClient {
  /** Signs the request for `sendSobre`, which takes a while; sends nothing. */
  signSobre(credentials: DgiCredentials, environment: Environment, sobre: SobreToSend): SignedSobre;
  /** EFACRECEPCIONSOBRE: sends a sobre, whose bytes must be the same at every attempt. */
  sendSobre(sobre: SignedSobre, options?: SendOptions): Promise<SendAnswer>;
  /** EFACCONSULTARESTADOENVIO: returns the verdicts on the receipts of a sobre. Read-only and repeatable. */
  askVerdict(
    credentials: DgiCredentials,
    environment: Environment,
    ticket: { idReceptor: string; token: string },
  ): Promise<AskVerdictAnswer>;
  /** EFACCONSULTARENVIOSSOBRE: looks for a sobre in a span of at most 31 days (Montevideo). */
  findSobre(
    credentials: DgiCredentials,
    environment: Environment,
    query: SobreQuery,
  ): Promise<FindSobreAnswer>;
  /** EFACCONSULTARESTADOCFE: finds the first sobre with a receipt of ours. */
  findCfe(credentials: DgiCredentials, environment: Environment, cfe: FiscalNumber): Promise<FindCfeAnswer>;
  /** EFACRECEPCIONREPORTE: sends the report of a day, whose bytes must be the same at every attempt. */
  sendReport(
    credentials: DgiCredentials,
    environment: Environment,
    report: ReportToSend,
  ): Promise<SendReportAnswer>;
  /** EFACCONSULTARENVIOSREPORTE: finds a report of ours by its number and date. */
  findReport(
    credentials: DgiCredentials,
    environment: Environment,
    report: { idEmisor: bigint; date: string },
  ): Promise<FindReportAnswer>;
  /** EFACCONSULTARENVIOSREPORTE: returns every report of a day. */
  listReports(
    credentials: DgiCredentials,
    environment: Environment,
    date: string,
  ): Promise<ListReportsAnswer>;
  /** EFACCONSULTARRESPUESTAREPORTE: reads the first answer to a report again. */
  readReportAnswer(
    credentials: DgiCredentials,
    environment: Environment,
    report: { idEmisor: bigint; authorityId: string },
  ): Promise<SendReportAnswer>;
  /**
   * EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDOPROV: lists electronic issuers that are new or changed since a moment,
   * all or only the given RUC.
   */
  listIssuers(
    credentials: DgiCredentials,
    environment: Environment,
    query: { since: Date; rut?: string },
  ): Promise<ListIssuersAnswer>;
  /** eRUT: looks a RUT (12 digits) up in the registry. */
  lookUpRut(credentials: DgiCredentials, environment: Environment, rut: string): Promise<LookUpAnswer>;
}

/** Creates a client of the authority for both environments. */
export function createDgiClient(options: DgiClientOptions): DgiClient {
  const calls = createCalls(options);
  return {
    signSobre: (credentials, environment, sobre) => signSobre(calls, { credentials, environment }, sobre),
    sendSobre: (sobre, sendOptions) => sendSobre(calls, sobre, sendOptions),
    askVerdict: (credentials, environment, ticket) => askVerdict(calls, { credentials, environment }, ticket),
    findSobre: (credentials, environment, query) => findSobre(calls, { credentials, environment }, query),
    findCfe: (credentials, environment, cfe) => findCfe(calls, { credentials, environment }, cfe),
    sendReport: (credentials, environment, report) => sendReport(calls, { credentials, environment }, report),
    findReport: (credentials, environment, report) => findReport(calls, { credentials, environment }, report),
    listReports: (credentials, environment, date) => listReports(calls, { credentials, environment }, date),
    readReportAnswer: (credentials, environment, report) =>
      readReportAnswer(calls, { credentials, environment }, report),
    listIssuers: (credentials, environment, query) => listIssuers(calls, { credentials, environment }, query),
    lookUpRut: (credentials, environment, rut) => lookUpRut(calls, { credentials, environment }, rut),
  };
}

function signSobre(calls: Calls, caller: DgiCaller, { idemisor, xml }: SobreToSend): SignedSobre {
  const envelope = calls.sign('sendSobre', caller, wrapInXmlData(xml));
  return { kind: 'signed', environment: caller.environment, rut: rutOf(caller), idemisor, envelope };
}

function sendSobre(
  calls: Calls,
  sobre: SignedSobre,
  { leaveBy, isProbe }: SendOptions = {},
): Promise<SendAnswer> {
  const { rut, idemisor, envelope } = sobre;
  const send = async (trace: Trace): Promise<SendAnswer> => {
    if (leaveBy !== undefined && calls.now() > leaveBy) throw new NoAnswer('unreached', 'too late');
    const answer = await calls.send('sendSobre', sobre, envelope, { isProbe, trace });
    const ack = await calls.readSigned(answer, readAckSobre, sobre);
    const mayOmitIds = ack.state !== 'AS';
    checkSubject(ack, { rut, idemisor: idemisor.toString(), mayOmitIds });
    const reading = readReception(ack);
    Object.assign(trace, { code: reading.answer, reasons: ack.reasons });
    return capAskFrom(calls, toSendAnswer(reading));
  };
  return calls.run('sendSobre', sobre, send, toSendAnswer);
}

function askVerdict(
  calls: Calls,
  caller: DgiCaller,
  ticket: { idReceptor: string; token: string },
): Promise<AskVerdictAnswer> {
  const ask = async (trace: Trace): Promise<AskVerdictAnswer> => {
    const answer = await calls.ask('askVerdict', caller, writeVerdictQuery(ticket), trace);
    const ack = await calls.readSigned(answer, readAckCfe, caller);
    checkSubject(ack, { rut: rutOf(caller), idReceptor: ticket.idReceptor });
    // Records the state only for a sobre with one receipt, as ours have; after E02 the sobre may be another system's.
    const [receipt, ...others] = ack.receipts;
    if (!receipt) trace.code = 'no verdict on it';
    else if (others.length === 0) Object.assign(trace, { code: receipt.state, reasons: receipt.reasons });
    return { kind: 'answered', ack };
  };
  return calls.run('askVerdict', caller, ask, toAskVerdictAnswer);
}

function findSobre(
  calls: Calls,
  caller: DgiCaller,
  { idemisor, from, to }: SobreQuery,
): Promise<FindSobreAnswer> {
  const parameters =
    `<Consultaenviossobre>${plain('IdEmisor', idemisor.toString())}${plain('IdReceptor', 0)}` +
    `${plain('FechaDesde', localTime(from))}${plain('FechaHasta', localTime(to))}</Consultaenviossobre>`;
  const ask = async (trace: Trace): Promise<FindSobreAnswer> => {
    const answer = await calls.ask('findSobre', caller, parameters, trace);
    throwOnException(answer);
    const reading = readShipments(answer, idemisor.toString());
    trace.code = reading.answer;
    return capAskFrom(calls, toFindSobreAnswer(reading));
  };
  return calls.run('findSobre', caller, ask, toFindSobreAnswer);
}

function findCfe(
  calls: Calls,
  caller: DgiCaller,
  { typeCode, serie, numero }: FiscalNumber,
): Promise<FindCfeAnswer> {
  const parameters = `<Cfeid>${plain('TipoCFE', typeCode)}${element('Serie', serie)}${plain('Nro', numero)}</Cfeid>`;
  const ask = async (trace: Trace): Promise<FindCfeAnswer> => {
    const answer = await calls.ask('findCfe', caller, parameters, trace);
    throwOnException(answer);
    const reading = readCfeState(answer);
    trace.code = reading.answer;
    return capAskFrom(calls, toFindCfeAnswer(reading));
  };
  return calls.run('findCfe', caller, ask, toFindCfeAnswer);
}

async function sendReport(
  calls: Calls,
  caller: DgiCaller,
  { idEmisor, xml, leaveBy }: ReportToSend,
): Promise<SendReportAnswer> {
  const envelope = calls.sign('sendReport', caller, wrapInXmlData(xml));
  const send = async (): Promise<SendReportAnswer> => {
    if (leaveBy !== undefined && calls.now() > leaveBy) throw new NoAnswer('unreached', 'too late');
    const answer = await calls.send('sendReport', caller, envelope);
    const ack = await calls.readSigned(answer, readAckReport, caller);
    const mayOmitIds = ack.state !== 'AR';
    checkSubject(ack, { rut: rutOf(caller), idemisor: idEmisor.toString(), mayOmitIds });
    return toSendReportAnswer(readReportAck(ack));
  };
  return calls.run('sendReport', caller, send, toSendReportAnswer);
}

const writeReportsQuery = (date: string, idEmisor?: bigint): string =>
  `<Consultaenviosreporte>${plain('FechaResumen', date)}${optionalPlain('IdEmisor', idEmisor?.toString())}</Consultaenviosreporte>`;

function findReport(
  calls: Calls,
  caller: DgiCaller,
  { idEmisor, date }: { idEmisor: bigint; date: string },
): Promise<FindReportAnswer> {
  const ask = async (): Promise<FindReportAnswer> => {
    const answer = await calls.ask('findReports', caller, writeReportsQuery(date, idEmisor));
    throwOnException(answer);
    return toFindReportAnswer(findListedReport(readReports(answer), idEmisor));
  };
  return calls.run('findReports', caller, ask, toUnclearReportAnswer);
}

function listReports(calls: Calls, caller: DgiCaller, date: string): Promise<ListReportsAnswer> {
  const ask = async (): Promise<ListReportsAnswer> => {
    const answer = await calls.ask('findReports', caller, writeReportsQuery(date));
    throwOnException(answer);
    return { kind: 'listed', reports: readReports(answer) };
  };
  return calls.run('findReports', caller, ask, toUnclearReportAnswer);
}

function readReportAnswer(
  calls: Calls,
  caller: DgiCaller,
  { idEmisor, authorityId }: { idEmisor: bigint; authorityId: string },
): Promise<SendReportAnswer> {
  const parameters = `<Consultarespuestareporte>${element('IdReceptor', authorityId)}</Consultarespuestareporte>`;
  const ask = async (): Promise<SendReportAnswer> => {
    const answer = await calls.ask('readReportAnswer', caller, parameters);
    const ack = await calls.readSigned(answer, readAckReport, caller);
    checkSubject(ack, { rut: rutOf(caller), idemisor: idEmisor.toString(), mayOmitIds: ack.state !== 'AR' });
    return toSendReportAnswer(readReportAck(ack));
  };
  return calls.run('readReportAnswer', caller, ask, toUnclearReportAnswer);
}

function listIssuers(
  calls: Calls,
  caller: DgiCaller,
  { since, rut = '' }: { since: Date; rut?: string },
): Promise<ListIssuersAnswer> {
  const parameters =
    `<Consultarucemisores>${plain('Filtro_eFacDocNro', rut)}${plain('Filtro_eFacDenominacion', '')}` +
    `${plain('Filtro_eFacRUCEmisorAudFchHora', localTime(since))}</Consultarucemisores>`;
  const ask = async (): Promise<ListIssuersAnswer> => {
    const answer = await calls.ask('listIssuers', caller, parameters);
    throwOnException(answer);
    try {
      return toListIssuersAnswer({ answer: 'list', issuers: await readIssuers(answer) });
    } catch (error) {
      throw error instanceof UnreadableXml ? new NoAnswer('unreadable') : error;
    }
  };
  return calls.run('listIssuers', caller, ask, toListIssuersAnswer);
}

function lookUpRut(calls: Calls, caller: DgiCaller, rut: string): Promise<LookUpAnswer> {
  const ask = async (): Promise<LookUpAnswer> => {
    const answer = await calls.ask('lookUpRut', caller, element('Rut', rut));
    const record = readRegistryRecord(readDocument(answer));
    if (!record) throw new NoAnswer('unreadable');
    return toLookUpAnswer(rut, { answer: 'record', record });
  };
  return calls.run('lookUpRut', caller, ask, (reading) => toLookUpAnswer(rut, reading));
}

/** The latest accepted moment to start asking (Fechahora), from now. */
const LONGEST_ASK_FROM_MILLISECONDS = 3_600_000;

/** Prevents a wrong clock or offset of the authority from delaying our query; asking too early is harmless (105). */
function capAskFrom<T extends SendAnswer | FindSobreAnswer | FindCfeAnswer>({ now }: Calls, answer: T): T {
  if (!('askFrom' in answer) || answer.askFrom === null) return answer;
  const latest = now().getTime() + LONGEST_ASK_FROM_MILLISECONDS;
  return { ...answer, askFrom: new Date(Math.min(answer.askFrom.getTime(), latest)) };
}

const rutOf = ({ credentials }: DgiCaller): string | undefined =>
  rucOf(new X509Certificate(credentials.certificateDer));

/** Formats a moment for the consultations: Montevideo time without an offset. */
const localTime = (moment: Date): string => montevideoTimestamp(moment).slice(0, 19);
