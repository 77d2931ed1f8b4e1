/**
 * Reads the authority's answers (Formato Mensaje de Respuesta v19; docs/authority/sobres.md,
 * docs/authority/services.md#exceptions). Lenient: the official examples break their own XSD, and unknown elements are
 * ignored.
 */
import type { Element } from '@xmldom/xmldom';
import { parseInstant } from '../moments.ts';
import { childrenNamed, elementAt, findNamed, isNamed, textAt } from './parse.ts';

/** One reason of a refusal, rejection or observation, in the authority's words. */
export interface AuthorityReason {
  code: string;
  message: string;
  detail: string | null;
}

/** The sender, recipient and shipment of an answer. */
export interface Caratula {
  /** RUCReceptor: the authority. */
  readonly receiverRut: string | undefined;
  /** RUCEmisor: the issuer of the shipment. */
  readonly issuerRut: string | undefined;
  /** Our number of the shipment, echoed. */
  readonly idemisor: string | undefined;
  /** The authority's number of the shipment, which later queries name. */
  readonly idReceptor: string | undefined;
  /** Tmst: when the answer was signed, by the authority's clock. */
  readonly signedAt: Date | undefined;
}

/** The token for later queries, and the earliest moment to ask. */
export interface QueryTicket {
  readonly token: string | undefined;
  readonly askFrom: Date | undefined;
}

/** The first answer to a sobre. */
export interface AckSobre extends Caratula, QueryTicket {
  /** AS received, BS refused; BA appears only in the XSD. */
  readonly state: string;
  readonly reasons: readonly AuthorityReason[];
}

/** The sobre that first brought a receipt (InfoRespOri, with E02). */
export interface OriginalAnswer {
  readonly idemisor: string | undefined;
  readonly idReceptor: string | undefined;
  readonly token: string | undefined;
}

/** The verdict on one receipt of a sobre. */
export interface ReceiptVerdict {
  /** From 1; the only field of a receipt that the authority could not parse. */
  readonly ordinal: number | undefined;
  readonly typeCode: number | undefined;
  readonly serie: string | undefined;
  readonly numero: number | undefined;
  /** TmstCFE: the receipt's moment of signing, verbatim. */
  readonly signedAt: string | undefined;
  /** AE received, BE rejected, CE observed; FE appears only in the XSD. */
  readonly state: string;
  readonly reasons: readonly AuthorityReason[];
  readonly original: OriginalAnswer | undefined;
}

/** The second answer: the verdicts so far on the receipts of a sobre. */
export interface AckCfe extends Caratula {
  readonly receipts: readonly ReceiptVerdict[];
}

/** A service's exception (Respuestas/Respuesta), sent instead of the answer. */
export interface ServiceException {
  readonly code: string;
  readonly message: string;
  readonly detail: string | null;
}

/** Reads an ACKSobre; undefined for another element. */
export function readAckSobre(root: Element): AckSobre | undefined {
  const detail = elementAt(root, 'Detalle');
  const state = textAt(detail, 'Estado');
  if (!isNamed(root, 'ACKSobre') || !detail || !state) return undefined;
  return {
    ...readCaratula(root),
    ...readTicket(elementAt(detail, 'ParamConsulta')),
    state,
    reasons: childrenNamed(detail, 'MotivosRechazo').map(readReason),
  };
}

/** The answer to the report of a day. */
export interface AckReport extends Caratula {
  /** AR received, BR refused; BA appears only in the XSD. */
  readonly state: string;
  readonly reasons: readonly AuthorityReason[];
}

/** Reads an ACKRepDiario, also without `version`, as in official examples; undefined for another element. */
export function readAckReport(root: Element): AckReport | undefined {
  const detail = elementAt(root, 'Detalle');
  const state = textAt(detail, 'Estado');
  if (!isNamed(root, 'ACKRepDiario') || !detail || !state) return undefined;
  return {
    ...readCaratula(root),
    state,
    reasons: childrenNamed(detail, 'MotivosRechazo').map(readReason),
  };
}

/** Reads an ACKCFE; undefined for another element. */
export function readAckCfe(root: Element): AckCfe | undefined {
  if (!isNamed(root, 'ACKCFE')) return undefined;
  return { ...readCaratula(root), receipts: childrenNamed(root, 'ACKCFE_Det').map(readVerdict) };
}

/** Returns the exceptions in an element, at any depth. */
export function readExceptions(root: Element): ServiceException[] {
  const answers = findNamed(root, 'Respuestas');
  return (answers ? childrenNamed(answers, 'Respuesta') : []).flatMap((answer) => {
    const code = textAt(answer, 'codigo');
    if (code === undefined) return [];
    return [
      {
        code: /^\d+$/.test(code) ? String(Number(code)) : code,
        message: textAt(answer, 'descripcion') ?? '',
        detail: textAt(answer, 'detalle') ?? null,
      },
    ];
  });
}

/** Reads ParamConsulta: the token, verbatim, and the earliest moment for asking. */
export function readTicket(parameters: Element | undefined): QueryTicket {
  return { token: textAt(parameters, 'Token'), askFrom: parseInstant(textAt(parameters, 'Fechahora')) };
}

function readCaratula(root: Element): Caratula {
  const caratula = elementAt(root, 'Caratula');
  return {
    receiverRut: textAt(caratula, 'RUCReceptor'),
    issuerRut: textAt(caratula, 'RUCEmisor'),
    idemisor: textAt(caratula, 'IDEmisor'),
    idReceptor: textAt(caratula, 'IDReceptor'),
    signedAt: parseInstant(textAt(caratula, 'Tmst')),
  };
}

function readVerdict(receipt: Element): ReceiptVerdict {
  const original = elementAt(receipt, 'InfoRespOri');
  return {
    ordinal: wholeNumber(textAt(receipt, 'Nro_ordinal')),
    typeCode: wholeNumber(textAt(receipt, 'TipoCFE')),
    serie: textAt(receipt, 'Serie'),
    numero: wholeNumber(textAt(receipt, 'NroCFE')),
    signedAt: textAt(receipt, 'TmstCFE'),
    state: textAt(receipt, 'Estado') ?? '',
    reasons: [...childrenNamed(receipt, 'MotivosRechazoCF'), ...childrenNamed(receipt, 'ObsCFC')].map(
      readReason,
    ),
    original: original && {
      idemisor: textAt(original, 'IDEmisorSobre'),
      idReceptor: textAt(original, 'IDReceptorSobre'),
      token: textAt(original, 'IDTokenSobre'),
    },
  };
}

const readReason = (reason: Element): AuthorityReason => ({
  code: textAt(reason, 'Motivo') ?? '',
  message: textAt(reason, 'Glosa') ?? '',
  detail: textAt(reason, 'Detalle') ?? null,
});

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
