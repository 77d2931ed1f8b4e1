/** The authority's services over HTTP; every answer, and every lack of one, comes out as a value. */
import { X509Certificate } from 'node:crypto';
import { rucOf } from '../crypto/x509.ts';
import type { Environment } from '../domain/cfeTypes.ts';
import { montevideoTimestamp } from '../domain/montevideo.ts';
import { checkSubject, documentIn, NoAnswer, refuseExceptions } from './answers.ts';
import { type Caller, type Calls, createCalls, type DgiClientOptions, type Trace } from './calls.ts';
import {
  type AskVerdictAnswer,
  type FindCfeAnswer,
  type FindSobreAnswer,
  findCfeAnswer,
  findSobreAnswer,
  noVerdictsAnswer,
  readCfeState,
  readReception,
  readShipments,
  type SendAnswer,
  sendAnswer,
} from './cfeAnswers.ts';
import {
  type FindReportAnswer,
  findListed,
  findReportAnswer,
  type ListIssuersAnswer,
  type ListReportsAnswer,
  type LookUpAnswer,
  listIssuersAnswer,
  lookUpAnswer,
  noReportAnswer,
  readReportAck,
  readReports,
  type SendReportAnswer,
  sendReportAnswer,
} from './otherAnswers.ts';
import { carried, verdictQuestion } from './soap.ts';
import type { DgiCredentials } from './wsSecurity.ts';
import { readAckCfe, readAckReport, readAckSobre } from './xml/ack.ts';
import { readIssuers } from './xml/issuers.ts';
import { UnreadableXml } from './xml/parse.ts';
import { readRegistryRecord } from './xml/registry.ts';
import { element, optionalPlain, plain } from './xml/write.ts';

export { type AuthorityCall, type HeardCall, hearingCalls } from './calls.ts';
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
/** The signed request that brings a sobre: only the sending is left. */
export interface SignedSobre {
  readonly kind: 'signed';
  readonly environment: Environment;
  /** Of the certificate that signed it: whom the answer must be about. */
  readonly rut: string | undefined;
  readonly idemisor: bigint;
  readonly envelope: string;
}
/** When a sobre leaves. */
interface Departure {
  /** A process that was held up may wake when all has been decided otherwise: after this nothing is sent. */
  readonly leaveBy?: Date;
  /** Whether it tries an endpoint that is away. */
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

/** The authority, to whoever is handed a client. Calls resolve with what came of them; they reject for bugs only. */
export interface DgiClient {
  /** Signs the request that `sendSobre` sends, which takes a while; nothing is sent yet. */
  signSobre(by: DgiCredentials, environment: Environment, sobre: SobreToSend): SignedSobre;
  /** EFACRECEPCIONSOBRE: brings a sobre, whose bytes must be the same at every attempt. */
  sendSobre(sobre: SignedSobre, departure?: Departure): Promise<SendAnswer>;
  /** EFACCONSULTARESTADOENVIO: the verdicts on the receipts of a sobre. Read-only and repeatable. */
  askVerdict(
    by: DgiCredentials,
    environment: Environment,
    ticket: { idReceptor: string; token: string },
  ): Promise<AskVerdictAnswer>;
  /** EFACCONSULTARENVIOSSOBRE: whether the authority has a sobre, among those of at most 31 days (Montevideo). */
  findSobre(by: DgiCredentials, environment: Environment, query: SobreQuery): Promise<FindSobreAnswer>;
  /** EFACCONSULTARESTADOCFE: the first sobre that carried a receipt of ours. */
  findCfe(by: DgiCredentials, environment: Environment, cfe: FiscalNumber): Promise<FindCfeAnswer>;
  /** EFACRECEPCIONREPORTE: brings the report of a day, whose bytes must be the same at every attempt. */
  sendReport(by: DgiCredentials, environment: Environment, report: ReportToSend): Promise<SendReportAnswer>;
  /** EFACCONSULTARENVIOSREPORTE: what the authority has of a report of ours. `date`: that of the report. */
  findReport(
    by: DgiCredentials,
    environment: Environment,
    report: { idEmisor: bigint; date: string },
  ): Promise<FindReportAnswer>;
  /** EFACCONSULTARENVIOSREPORTE: every report of a day. */
  listReports(by: DgiCredentials, environment: Environment, date: string): Promise<ListReportsAnswer>;
  /** EFACCONSULTARRESPUESTAREPORTE: the first answer to a report, once more. */
  readReportAnswer(
    by: DgiCredentials,
    environment: Environment,
    report: { idEmisor: bigint; authorityId: string },
  ): Promise<SendReportAnswer>;
  /**
   * EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDOPROV: the electronic issuers that came or changed since a moment; of one
   * RUC where it is named.
   */
  listIssuers(
    by: DgiCredentials,
    environment: Environment,
    query: { since: Date; rut?: string },
  ): Promise<ListIssuersAnswer>;
  /** eRUT: what the registry tells of a RUT (12 digits). */
  lookUpRut(by: DgiCredentials, environment: Environment, rut: string): Promise<LookUpAnswer>;
}

/** A client of the authority in both environments. */
export function createDgiClient(options: DgiClientOptions): DgiClient {
  const calls = createCalls(options);
  return {
    signSobre: (credentials, environment, sobre) => signSobre(calls, { credentials, environment }, sobre),
    sendSobre: (sobre, departure) => sendSobre(calls, sobre, departure),
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

function signSobre(calls: Calls, caller: Caller, { idemisor, xml }: SobreToSend): SignedSobre {
  const envelope = calls.sign('sendSobre', caller, carried(xml));
  return { kind: 'signed', environment: caller.environment, rut: rutOf(caller), idemisor, envelope };
}

function sendSobre(
  calls: Calls,
  sobre: SignedSobre,
  { leaveBy, isProbe }: Departure = {},
): Promise<SendAnswer> {
  const { rut, idemisor, envelope } = sobre;
  const send = async (trace: Trace): Promise<SendAnswer> => {
    if (leaveBy !== undefined && calls.now() > leaveBy) throw new NoAnswer('unreached', 'too late');
    const answer = await calls.send('sendSobre', sobre, envelope, { isProbe, trace });
    const ack = await calls.readSigned(answer, readAckSobre, sobre);
    const mayLackIds = ack.state !== 'AS';
    checkSubject(ack, { rut, idemisor: idemisor.toString(), mayLackIds });
    const reading = readReception(ack);
    Object.assign(trace, { code: reading.answer, reasons: ack.reasons });
    return soon(calls, sendAnswer(reading));
  };
  return calls.run('sendSobre', sobre, send, sendAnswer);
}

function askVerdict(
  calls: Calls,
  caller: Caller,
  ticket: { idReceptor: string; token: string },
): Promise<AskVerdictAnswer> {
  const ask = async (trace: Trace): Promise<AskVerdictAnswer> => {
    const answer = await calls.ask('askVerdict', caller, verdictQuestion(ticket), trace);
    const ack = await calls.readSigned(answer, readAckCfe, caller);
    checkSubject(ack, { rut: rutOf(caller), idReceptor: ticket.idReceptor });
    // A sobre of ours holds one receipt; of another system's, which is asked about after E02, the states are not told.
    const [receipt, ...others] = ack.receipts;
    if (!receipt) trace.code = 'no verdict on it';
    else if (others.length === 0) Object.assign(trace, { code: receipt.state, reasons: receipt.reasons });
    return { kind: 'answered', ack };
  };
  return calls.run('askVerdict', caller, ask, noVerdictsAnswer);
}

function findSobre(
  calls: Calls,
  caller: Caller,
  { idemisor, from, to }: SobreQuery,
): Promise<FindSobreAnswer> {
  const parameters =
    `<Consultaenviossobre>${plain('IdEmisor', idemisor.toString())}${plain('IdReceptor', 0)}` +
    `${plain('FechaDesde', localTime(from))}${plain('FechaHasta', localTime(to))}</Consultaenviossobre>`;
  const ask = async (trace: Trace): Promise<FindSobreAnswer> => {
    const answer = await calls.ask('findSobre', caller, parameters, trace);
    refuseExceptions(answer);
    const reading = readShipments(answer, idemisor.toString());
    trace.code = reading.answer;
    return soon(calls, findSobreAnswer(reading));
  };
  return calls.run('findSobre', caller, ask, findSobreAnswer);
}

function findCfe(
  calls: Calls,
  caller: Caller,
  { typeCode, serie, numero }: FiscalNumber,
): Promise<FindCfeAnswer> {
  const parameters = `<Cfeid>${plain('TipoCFE', typeCode)}${element('Serie', serie)}${plain('Nro', numero)}</Cfeid>`;
  const ask = async (trace: Trace): Promise<FindCfeAnswer> => {
    const answer = await calls.ask('findCfe', caller, parameters, trace);
    refuseExceptions(answer);
    const reading = readCfeState(answer);
    trace.code = reading.answer;
    return soon(calls, findCfeAnswer(reading));
  };
  return calls.run('findCfe', caller, ask, findCfeAnswer);
}

async function sendReport(
  calls: Calls,
  caller: Caller,
  { idEmisor, xml, leaveBy }: ReportToSend,
): Promise<SendReportAnswer> {
  const envelope = calls.sign('sendReport', caller, carried(xml));
  const send = async (): Promise<SendReportAnswer> => {
    if (leaveBy !== undefined && calls.now() > leaveBy) throw new NoAnswer('unreached', 'too late');
    const answer = await calls.send('sendReport', caller, envelope);
    const ack = await calls.readSigned(answer, readAckReport, caller);
    const mayLackIds = ack.state !== 'AR';
    checkSubject(ack, { rut: rutOf(caller), idemisor: idEmisor.toString(), mayLackIds });
    return sendReportAnswer(readReportAck(ack));
  };
  return calls.run('sendReport', caller, send, sendReportAnswer);
}

const reportsQuestion = (date: string, idEmisor?: bigint): string =>
  `<Consultaenviosreporte>${plain('FechaResumen', date)}${optionalPlain('IdEmisor', idEmisor?.toString())}</Consultaenviosreporte>`;

function findReport(
  calls: Calls,
  caller: Caller,
  { idEmisor, date }: { idEmisor: bigint; date: string },
): Promise<FindReportAnswer> {
  const ask = async (): Promise<FindReportAnswer> => {
    const answer = await calls.ask('findReports', caller, reportsQuestion(date, idEmisor));
    refuseExceptions(answer);
    return findReportAnswer(findListed(readReports(answer), idEmisor));
  };
  return calls.run('findReports', caller, ask, noReportAnswer);
}

function listReports(calls: Calls, caller: Caller, date: string): Promise<ListReportsAnswer> {
  const ask = async (): Promise<ListReportsAnswer> => {
    const answer = await calls.ask('findReports', caller, reportsQuestion(date));
    refuseExceptions(answer);
    return { kind: 'listed', reports: readReports(answer) };
  };
  return calls.run('findReports', caller, ask, noReportAnswer);
}

function readReportAnswer(
  calls: Calls,
  caller: Caller,
  { idEmisor, authorityId }: { idEmisor: bigint; authorityId: string },
): Promise<SendReportAnswer> {
  const parameters = `<Consultarespuestareporte>${element('IdReceptor', authorityId)}</Consultarespuestareporte>`;
  const ask = async (): Promise<SendReportAnswer> => {
    const answer = await calls.ask('readReportAnswer', caller, parameters);
    const ack = await calls.readSigned(answer, readAckReport, caller);
    checkSubject(ack, { rut: rutOf(caller), idemisor: idEmisor.toString(), mayLackIds: ack.state !== 'AR' });
    return sendReportAnswer(readReportAck(ack));
  };
  return calls.run('readReportAnswer', caller, ask, noReportAnswer);
}

function listIssuers(
  calls: Calls,
  caller: Caller,
  { since, rut = '' }: { since: Date; rut?: string },
): Promise<ListIssuersAnswer> {
  const parameters =
    `<Consultarucemisores>${plain('Filtro_eFacDocNro', rut)}${plain('Filtro_eFacDenominacion', '')}` +
    `${plain('Filtro_eFacRUCEmisorAudFchHora', localTime(since))}</Consultarucemisores>`;
  const ask = async (): Promise<ListIssuersAnswer> => {
    const answer = await calls.ask('listIssuers', caller, parameters);
    refuseExceptions(answer);
    try {
      return listIssuersAnswer({ answer: 'list', issuers: await readIssuers(answer) });
    } catch (error) {
      throw error instanceof UnreadableXml ? new NoAnswer('unreadable') : error;
    }
  };
  return calls.run('listIssuers', caller, ask, listIssuersAnswer);
}

function lookUpRut(calls: Calls, caller: Caller, rut: string): Promise<LookUpAnswer> {
  const ask = async (): Promise<LookUpAnswer> => {
    const answer = await calls.ask('lookUpRut', caller, element('Rut', rut));
    const record = readRegistryRecord(documentIn(answer));
    if (!record) throw new NoAnswer('unreadable');
    return lookUpAnswer(rut, { answer: 'record', record });
  };
  return calls.run('lookUpRut', caller, ask, (reading) => lookUpAnswer(rut, reading));
}

/** How far ahead the authority may set the moment from which on it is asked (Fechahora). */
const LONGEST_ASK_FROM_MILLISECONDS = 3_600_000;

/** An error of the authority's clock or offset must not keep us from asking; asking too early is harmless (105). */
function soon<T extends SendAnswer | FindSobreAnswer | FindCfeAnswer>({ now }: Calls, answer: T): T {
  if (!('askFrom' in answer) || answer.askFrom === null) return answer;
  const latest = now().getTime() + LONGEST_ASK_FROM_MILLISECONDS;
  return { ...answer, askFrom: new Date(Math.min(answer.askFrom.getTime(), latest)) };
}

const rutOf = ({ credentials }: Caller): string | undefined =>
  rucOf(new X509Certificate(credentials.certificateDer));

/** A moment as the consultations want it: Montevideo, without an offset. */
const localTime = (moment: Date): string => montevideoTimestamp(moment).slice(0, 19);
