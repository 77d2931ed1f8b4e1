/** What the answers to our questions say, read into what the client gives (dgi/transport.md §4, §7). */
import type { Element } from '@xmldom/xmldom';
import { NoAnswer } from './answers.ts';
import { reactionTo, type Unsettled, unsettled } from './outcomes.ts';
import { type AckSobre, type Caratula, type QueryTicket, type Reason, readTicket } from './xml/ack.ts';
import { childrenNamed, elementAt, textAt } from './xml/parse.ts';

/** What the authority gives for asking about a sobre. */
export interface SobreTicket {
  readonly idReceptor: string;
  readonly token: string;
  readonly askFrom: Date | null;
}

/** The first answer to a sobre. */
export type SendAnswer =
  | ({ readonly kind: 'received' } & SobreTicket)
  | { readonly kind: 'refused'; readonly reasons: Reason[] }
  | { readonly kind: 'duplicate' }
  | Unsettled;
/** Whether the authority has a sobre. */
export type FindSobreAnswer =
  | ({ readonly kind: 'received' } & SobreTicket)
  | { readonly kind: 'refused' }
  | { readonly kind: 'absent' }
  | Unsettled;
/** The first sobre that carried a receipt; `state` is null while there is no verdict. */
export type FindCfeAnswer =
  | ({ readonly kind: 'found'; readonly state: string | null; readonly idemisor: string } & SobreTicket)
  | { readonly kind: 'absent' }
  | Unsettled;

/** Reads the answer to a sobre; throws NoAnswer when it was received and yet cannot be asked about. */
export function readReception(ack: AckSobre): SendAnswer {
  if (ack.state === 'AS') return { kind: 'received', ...ticketOf(ack.idReceptor, ack, 'AS without token') };
  const codes = ack.reasons.map(({ code }) => code);
  const reactions = ack.state === 'BS' ? codes.map((code) => reactionTo('send', code)) : [];
  if (reactions.includes('duplicate')) return { kind: 'duplicate' };
  if (reactions.includes('refused')) return { kind: 'refused', reasons: [...ack.reasons] };
  return unsettled('send', 'BS', [ack.state, ...codes].join(' '));
}

/** Finds a sobre in the answer to EFACCONSULTARENVIOSSOBRE. A refused repeat may stand there beside the received one. */
export function readShipments(answer: Element, idemisor: string): FindSobreAnswer {
  const list = elementAt(answer, 'Ackconsultaenviossobre');
  if (!list) throw new NoAnswer('unreadable');
  const collection = elementAt(list, 'ColeccionDatosSobre') ?? elementAt(list, 'ColeccionDatosSobres');
  const ours = (collection ? childrenNamed(collection, 'DatosSobre') : []).filter((one) =>
    isSameNumber(textAt(one, 'IdEmisor'), idemisor),
  );
  if (ours.length === 0) return { kind: 'absent' };
  const received = ours.filter((one) => textAt(one, 'EstadoSobre') === 'AS');
  if (received.length === 0) return { kind: 'refused' };
  const [one] = received.filter((each) => textAt(each, 'ParamConsulta', 'Token') !== undefined);
  const parameters = one && elementAt(one, 'ParamConsulta');
  return {
    kind: 'received',
    ...ticketOf(textAt(one, 'IdReceptor'), readTicket(parameters), 'listed without token'),
  };
}

/** Reads the answer to EFACCONSULTARESTADOCFE; a receipt that is not there has an IdReceptor of 0, or none. */
export function readCfeState(answer: Element): FindCfeAnswer {
  const state = elementAt(answer, 'Ackconsultaestadocfe');
  if (!state) throw new NoAnswer('unreadable');
  const [idemisor, idReceptor] = [textAt(state, 'IdEmisor'), textAt(state, 'IdReceptor')];
  if (idReceptor === undefined || idemisor === undefined || Number(idReceptor) === 0)
    return { kind: 'absent' };
  const ticket = ticketOf(idReceptor, readTicket(elementAt(state, 'ParamConsulta')), 'listed without token');
  return { kind: 'found', state: textAt(state, 'EstadoCFE') ?? null, idemisor, ...ticket };
}

/** An answer about another company or shipment does not count; a refusal may lack what could not be read. */
export function checkSubject(
  ack: Caratula,
  of: { rut: string | undefined; idemisor?: string; idReceptor?: string; mayLackIds?: boolean },
): void {
  const lacksIds = of.mayLackIds === true && (ack.idemisor === undefined || Number(ack.idemisor) === 0);
  const isOurs =
    (ack.issuerRut === of.rut || (lacksIds && ack.issuerRut === undefined)) &&
    (of.idemisor === undefined || lacksIds || isSameNumber(ack.idemisor, of.idemisor)) &&
    (of.idReceptor === undefined || isSameNumber(ack.idReceptor, of.idReceptor));
  if (!isOurs) throw new NoAnswer('other subject');
}

function ticketOf(idReceptor: string | undefined, of: QueryTicket, otherwise: string): SobreTicket {
  if (idReceptor === undefined || of.token === undefined) throw new NoAnswer(otherwise);
  return { idReceptor, token: of.token, askFrom: of.askFrom ?? null };
}

const isSameNumber = (found: string | undefined, expected: string): boolean =>
  found !== undefined && found.replace(/^0+(?=\d)/, '') === expected.replace(/^0+(?=\d)/, '');
