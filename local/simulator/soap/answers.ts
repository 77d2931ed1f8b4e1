import { inMontevideo } from '../clock.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../environments.ts';
import { EXCEPTIONS, type ExceptionCode, glossOf, type Reason, type Verdict } from '../judge/codes.ts';
import type { Reception } from '../judge/receiveSobre.ts';
import type { Signer } from '../security/authority.ts';
import { signEnveloped } from '../security/enveloped.ts';
import type { Report } from '../state/reports.ts';
import type { Judgement, Sobre } from '../state/sobres.ts';
import { CFE_NS, FAULTS_NS, SERVICES_NS, SOAP_NS } from '../xml/names.ts';
import { cdata, leaf, maybe, tag } from '../xml/write.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

interface Answering {
  readonly environment: EnvironmentName;
  readonly signer: Signer;
}

/** A signed answer; its Caratula says which sobre it answers, as which response, and counts its receipts. */
function signedAnswer(
  root: 'ACKSobre' | 'ACKCFE',
  { environment, signer }: Answering,
  about: {
    readonly sobre: Sobre;
    readonly responseId: number;
    readonly counts: string;
    readonly at: string;
    readonly content: string;
  },
): string {
  const { sobre } = about;
  const caratula = tag(
    'Caratula',
    leaf('RUCReceptor', ENVIRONMENTS[environment].rut),
    leaf('RUCEmisor', sobre.rut),
    leaf('IDRespuesta', about.responseId),
    leaf('NomArch', ''),
    leaf('FecHRecibido', inMontevideo(new Date(sobre.received_at))),
    leaf('IDEmisor', sobre.idemisor),
    leaf('IDReceptor', sobre.id),
    about.counts,
    leaf('Tmst', about.at),
  );
  const document = `<${root} xmlns="${CFE_NS}" version="1.0">${caratula}${about.content}</${root}>`;
  return DECLARATION + signEnveloped(document, signer);
}

/** The first answer to a sobre, signed (docs/authority/sobres.md#first-answer). */
export function ackSobre({ sobre, count, reason }: Reception, answering: Answering): string {
  const parameters = (): string =>
    tag(
      'ParamConsulta',
      leaf('Token', sobre.token),
      leaf('Fechahora', inMontevideo(new Date(sobre.query_from))),
    );
  return signedAnswer('ACKSobre', answering, {
    sobre,
    responseId: sobre.response_id,
    counts: leaf('CantidadCFE', Math.min(count, 250)),
    at: inMontevideo(new Date(sobre.received_at)),
    content: tag(
      'Detalle',
      leaf('Estado', sobre.state),
      reason === null ? parameters() : reasonElement('MotivosRechazo', reason),
    ),
  });
}

/** The second answer: the verdict on every receipt of a sobre that has one, signed (docs/authority/sobres.md#verdict). */
export function ackCfe(
  sobre: Sobre,
  judgements: readonly Judgement[],
  context: Answering & {
    readonly responseId: number;
    readonly now: Date;
    /** Receipts in the sobre; those that are not among the judgements have no verdict yet. */
    readonly count: number;
    /** Reported for receipts instead of their verdict, by ordinal. */
    readonly oddStates: ReadonlyMap<number, string>;
    readonly originalOf: (id: number) => Sobre | undefined;
  },
): string {
  const count = (verdict: Verdict): number => judgements.filter((one) => one.verdict === verdict).length;
  const counts = [
    leaf('CantenSobre', context.count),
    leaf('CantResponden', judgements.length),
    leaf('CantCFEAceptados', count('AE')),
    leaf('CantCFERechazados', count('BE')),
    leaf('CantCFCAceptados', 0),
    leaf('CantCFCObservados', count('CE')),
    leaf('CantOtrosRechazados', 0),
  ].join('');
  const details = judgements.map((one) => {
    const element = one.verdict === 'CE' ? 'ObsCFC' : 'MotivosRechazoCF';
    const original = one.originalSobreId === null ? undefined : context.originalOf(one.originalSobreId);
    return tag(
      'ACKCFE_Det',
      leaf('Nro_ordinal', one.ordinal),
      maybe('TipoCFE', one.cfeType),
      maybe('Serie', one.serie),
      maybe('NroCFE', one.number),
      maybe('FechaCFE', one.issuedOn),
      maybe('TmstCFE', one.signedAt),
      leaf('Estado', context.oddStates.get(one.ordinal) ?? one.verdict),
      ...one.reasons.map((reason) => reasonElement(element, reason)),
      original ? originalElement(original) : '',
    );
  });
  const { responseId } = context;
  return signedAnswer('ACKCFE', context, {
    sobre,
    responseId,
    counts,
    at: inMontevideo(context.now),
    content: details.join(''),
  });
}

/** The answer to a daily report, signed (Formato Mensaje de Respuesta v19, ACKRepDiario). */
export function ackReport(report: Omit<Report, 'ack'>, { environment, signer }: Answering): string {
  const at = inMontevideo(new Date(report.received_at));
  const caratula = tag(
    'Caratula',
    leaf('RUCReceptor', ENVIRONMENTS[environment].rut),
    leaf('RUCEmisor', report.rut),
    leaf('NomArch', ''),
    leaf('FecHRecibido', at),
    leaf('IDEmisor', report.id_emisor),
    leaf('IDReceptor', report.id),
    leaf('Tmst', at),
  );
  const reasons = report.reasons.flatMap(({ code, detail }) =>
    code === null ? [] : [reasonElement('MotivosRechazo', { code, detail })],
  );
  const detail = tag('Detalle', leaf('Estado', report.state), ...reasons);
  return (
    DECLARATION +
    signEnveloped(`<ACKRepDiario xmlns="${CFE_NS}" version="1.0">${caratula}${detail}</ACKRepDiario>`, signer)
  );
}

const reasonElement = (name: string, { code, detail }: Reason): string =>
  tag(name, leaf('Motivo', code), leaf('Glosa', glossOf(code)), maybe('Detalle', detail));

const originalElement = (sobre: Sobre): string =>
  tag(
    'InfoRespOri',
    leaf('IDRespSobre', sobre.response_id),
    leaf('IDEmisorSobre', sobre.idemisor),
    leaf('IDReceptorSobre', sobre.id),
    leaf('IDTokenSobre', sobre.token),
  );

/** A service's exception, which travels where the answer would (docs/authority/services.md#exceptions). */
export const exception = (code: ExceptionCode, detail = ''): string =>
  DECLARATION +
  tag(
    'Respuestas',
    tag('Respuesta', leaf('codigo', code), leaf('descripcion', EXCEPTIONS[code]), leaf('detalle', detail)),
  );

/** The Body of an answer of the reception service: a document as text. */
export const receptionAnswer = (operation: string, payload: string): string =>
  `<WS_eFactura.${operation}Response xmlns="${SERVICES_NS}">${tag('Dataout', tag('xmlData', cdata(payload)))}</WS_eFactura.${operation}Response>`;

/** A whole SOAP fault, unsigned, as the gateway answers with HTTP 500. */
export const faultEnvelope = (side: 'Client' | 'Server', message: string): string =>
  `${DECLARATION}\n<env:Envelope xmlns:env="${SOAP_NS}">${tag('env:Body', tag('env:Fault', leaf('faultcode', `env:${side}`), leaf('faultstring', message)))}</env:Envelope>`;

/** The Body of a fault of the registry's service (docs/authority/services.md#erut-errors). */
export const registryFault = (code: number, side: 'Client' | 'Server', detail: string): string => {
  const words = side === 'Server' ? 'Error Interno' : 'Error al consumir el Servicio Web';
  const answers = tag(
    'Respuestas',
    tag('Respuesta', leaf('Codigo', code), leaf('Descripcion', words), leaf('Detalle', detail)),
  );
  return tag(
    'SOAP-ENV:Fault',
    leaf('faultcode', `SOAP-ENV:${side}`),
    leaf('faultstring', words),
    tag('detail', `<GenericFault xmlns="${FAULTS_NS}">${answers}</GenericFault>`),
  );
};
