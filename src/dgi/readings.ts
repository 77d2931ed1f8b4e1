/** Reads the authority's documents into the answers of the table (docs/authority/sobres.md, docs/authority/services.md). */
import type { Element } from '@xmldom/xmldom';
import { NoAnswer } from './answers.ts';
import { outcomeOf } from './outcomes.ts';
import type { ListedReport, Reading, SobreTicket } from './results.ts';
import { type AckReport, type AckSobre, type Caratula, type QueryTicket, readTicket } from './xml/ack.ts';
import { childrenNamed, elementAt, textAt } from './xml/parse.ts';

/** The reasons for which a sobre is refused (MotivosRechazo) that a rule covers. */
const REFUSALS = ['S01', 'S02', 'S03', 'S04', 'S05', 'S06', 'S07', 'S08'] as const;

/** Reads the answer to a sobre. */
export function readReception(ack: AckSobre): Reading<'send'> {
  if (ack.state === 'AS') {
    const ticket = ticketOf(ack.idReceptor, ack);
    return ticket ? { answer: 'AS', ticket } : { answer: 'AS without token' };
  }
  const { reasons } = ack;
  const codes = reasons.map(({ code }) => code);
  const known = REFUSALS.filter((refusal) => ack.state === 'BS' && codes.includes(refusal));
  // Beside any other reason, "duplicate" says that the authority has the sobre.
  const answer = known.find((refusal) => outcomeOf('send', refusal).reaction === 'duplicate') ?? known[0];
  return answer === undefined
    ? { answer: 'BS', detail: [ack.state, ...codes].join(' ') }
    : { answer, reasons };
}

/** Finds a sobre in the answer to EFACCONSULTARENVIOSSOBRE. A refused repeat may stand there beside the received one. */
export function readShipments(answer: Element, idemisor: string): Reading<'find'> {
  const list = elementAt(answer, 'Ackconsultaenviossobre');
  if (!list) throw new NoAnswer('unreadable');
  const collection = elementAt(list, 'ColeccionDatosSobre') ?? elementAt(list, 'ColeccionDatosSobres');
  const ours = (collection ? childrenNamed(collection, 'DatosSobre') : []).filter((shipment) =>
    isSameNumber(textAt(shipment, 'IdEmisor'), idemisor),
  );
  if (ours.length === 0) return { answer: 'not listed' };
  const received = ours.filter((shipment) => textAt(shipment, 'EstadoSobre') === 'AS');
  if (received.length === 0) return { answer: 'listed as refused' };
  const [shipment] = received.filter((each) => textAt(each, 'ParamConsulta', 'Token') !== undefined);
  const query = readTicket(shipment && elementAt(shipment, 'ParamConsulta'));
  const ticket = ticketOf(textAt(shipment, 'IdReceptor'), query);
  return ticket ? { answer: 'listed', ticket } : { answer: 'listed without token' };
}

/** Reads the answer to EFACCONSULTARESTADOCFE; a receipt that is not there has an IdReceptor of 0, or none. */
export function readCfeState(answer: Element): Reading<'findCfe'> {
  const state = elementAt(answer, 'Ackconsultaestadocfe');
  if (!state) throw new NoAnswer('unreadable');
  const [idemisor, idReceptor] = [textAt(state, 'IdEmisor'), textAt(state, 'IdReceptor')];
  if (idReceptor === undefined || idemisor === undefined || Number(idReceptor) === 0)
    return { answer: 'not found' };
  const query = readTicket(elementAt(state, 'ParamConsulta'));
  const ticket = ticketOf(idReceptor, query);
  if (!ticket) return { answer: 'found without token' };
  return { answer: 'found', location: { state: textAt(state, 'EstadoCFE') ?? null, idemisor, ...ticket } };
}

/** The reasons for which a report is refused (MotivosRechazo) that a rule covers. */
const REPORT_REFUSALS = ['R01', 'R02', 'R03', 'R04', 'R05', 'R06'] as const;

/** Reads the answer to the report of a day. Of several reasons the one that a person must see to counts first. */
export function readReportAck(ack: AckReport): Reading<'sendReport'> {
  const { state, idReceptor, reasons } = ack;
  if (state === 'AR' && idReceptor !== undefined) return { answer: 'AR', authorityId: idReceptor };
  if (state === 'AR') throw new NoAnswer('unreadable');
  const codes = reasons.map(({ code }) => code);
  const known = state === 'BR' ? REPORT_REFUSALS.find((refusal) => codes.includes(refusal)) : undefined;
  const detail = known === undefined ? [state, ...codes].join(' ') : undefined;
  return { answer: known ?? 'BR', detail, reasons, authorityId: idReceptor };
}

/** Reads the answer to EFACCONSULTARENVIOSREPORTE: the reports of a day, refused ones too. */
export function readReports(answer: Element): ListedReport[] {
  const list = elementAt(answer, 'Ackconsultaenviosreporte');
  if (!list) throw new NoAnswer('unreadable');
  const collection = elementAt(list, 'ColeccionDatosReporte');
  return (collection ? childrenNamed(collection, 'DatosReporte') : []).map((report) => {
    const [idEmisor, state] = [textAt(report, 'IdEmisor'), textAt(report, 'Estado')];
    if (idEmisor === undefined || state === undefined) throw new NoAnswer('unreadable');
    return { idEmisor: withoutZeros(idEmisor), state, authorityId: textAt(report, 'IdReceptor') };
  });
}

const REPORT_STATES = ['AR', 'DR', 'ER', 'FR', 'BR'] as const;

/** Finds a report of ours among those of its day. A refused repeat may stand there beside the one that was taken. */
export function findListed(reports: readonly ListedReport[], idEmisor: bigint): Reading<'findReport'> {
  const ours = reports.filter((report) => report.idEmisor === idEmisor.toString());
  const one = ours.find(({ state }) => state !== 'BR') ?? ours[0];
  if (!one) return { answer: 'not listed' };
  const known = REPORT_STATES.find((state) => state === one.state);
  if (known === undefined) return { answer: 'other state', detail: `state ${one.state.slice(0, 10)}` };
  if (one.authorityId === undefined) throw new NoAnswer('unreadable');
  return { answer: `listed ${known}`, authorityId: one.authorityId };
}

/** An answer about another company or shipment does not count; a refusal may lack what could not be read. */
export function checkSubject(
  ack: Caratula,
  expected: { rut: string | undefined; idemisor?: string; idReceptor?: string; mayLackIds?: boolean },
): void {
  const lacksIds = expected.mayLackIds === true && (ack.idemisor === undefined || Number(ack.idemisor) === 0);
  const isOurs =
    (ack.issuerRut === expected.rut || (lacksIds && ack.issuerRut === undefined)) &&
    (expected.idemisor === undefined || lacksIds || isSameNumber(ack.idemisor, expected.idemisor)) &&
    (expected.idReceptor === undefined || isSameNumber(ack.idReceptor, expected.idReceptor));
  if (!isOurs) throw new NoAnswer('other subject');
}

function ticketOf(idReceptor: string | undefined, { token, askFrom }: QueryTicket): SobreTicket | undefined {
  if (idReceptor === undefined || token === undefined) return undefined;
  return { idReceptor, token, askFrom: askFrom ?? null };
}

const isSameNumber = (found: string | undefined, expected: string): boolean =>
  found !== undefined && withoutZeros(found) === withoutZeros(expected);

const withoutZeros = (number: string): string => number.replace(/^0+(?=\d)/, '');
