import { inMontevideo } from '../clock.ts';
import { ENVIRONMENTS, type EnvironmentName } from '../environments.ts';
import { EXCEPTIONS, type ExceptionCode, glossOf, type Reason } from '../judge/codes.ts';
import type { Reception } from '../judge/receiveSobre.ts';
import type { Signer } from '../security/authority.ts';
import { signEnveloped } from '../security/enveloped.ts';
import type { Judgement, Sobre } from '../state/sobres.ts';
import { CFE_NS, FAULTS_NS, SERVICES_NS, SOAP_NS } from '../xml/names.ts';
import { cdata, leaf, maybe, tag } from '../xml/write.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** The first answer to a sobre, signed (transport.md §4). */
export function ackSobre(reception: Reception, environment: EnvironmentName, signer: Signer): string {
  const { sobre, reason } = reception;
  const receivedAt = inMontevideo(new Date(sobre.received_at));
  const caratula = tag(
    'Caratula',
    leaf('RUCReceptor', ENVIRONMENTS[environment].rut),
    leaf('RUCEmisor', reception.rut),
    leaf('IDRespuesta', sobre.response_id),
    leaf('NomArch', ''),
    leaf('FecHRecibido', receivedAt),
    leaf('IDEmisor', reception.idemisor),
    leaf('IDReceptor', sobre.id),
    leaf('CantidadCFE', Math.min(reception.count, 250)),
    leaf('Tmst', receivedAt),
  );
  const detail =
    reason === null
      ? tag(
          'Detalle',
          leaf('Estado', 'AS'),
          tag(
            'ParamConsulta',
            leaf('Token', sobre.token),
            leaf('Fechahora', inMontevideo(new Date(sobre.query_from))),
          ),
        )
      : tag('Detalle', leaf('Estado', 'BS'), reasonElement('MotivosRechazo', reason));
  return (
    DECLARATION +
    signEnveloped(`<ACKSobre xmlns="${CFE_NS}" version="1.0">${caratula}${detail}</ACKSobre>`, signer)
  );
}

/** The second answer: the verdict on every receipt of a sobre, signed (transport.md §6). */
export function ackCfe(
  sobre: Sobre,
  judgements: readonly Judgement[],
  context: {
    readonly environment: EnvironmentName;
    readonly signer: Signer;
    readonly responseId: number;
    readonly now: Date;
    /** Said of all receipts instead of their verdict, by directive. */
    readonly oddState: string | null;
    readonly originalOf: (id: number) => Sobre | undefined;
  },
): string {
  const count = (verdict: Judgement['verdict']): number =>
    judgements.filter((one) => one.verdict === verdict).length;
  const caratula = tag(
    'Caratula',
    leaf('RUCReceptor', ENVIRONMENTS[context.environment].rut),
    leaf('RUCEmisor', sobre.rut),
    leaf('IDRespuesta', context.responseId),
    leaf('NomArch', ''),
    leaf('FecHRecibido', inMontevideo(new Date(sobre.received_at))),
    leaf('IDEmisor', sobre.idemisor),
    leaf('IDReceptor', sobre.id),
    leaf('CantenSobre', judgements.length),
    leaf('CantResponden', judgements.length),
    leaf('CantCFEAceptados', count('AE')),
    leaf('CantCFERechazados', count('BE')),
    leaf('CantCFCAceptados', 0),
    leaf('CantCFCObservados', count('CE')),
    leaf('CantOtrosRechazados', 0),
    leaf('Tmst', inMontevideo(context.now)),
  );
  const details = judgements.map((one) => {
    const element = one.verdict === 'CE' ? 'ObsCFC' : 'MotivosRechazoCF';
    const original = one.originalSobreId === null ? undefined : context.originalOf(one.originalSobreId);
    return tag(
      'ACKCFE_Det',
      leaf('Nro_ordinal', one.ordinal),
      maybe('TipoCFE', one.cfeType),
      maybe('Serie', one.series),
      maybe('NroCFE', one.number),
      maybe('FechaCFE', one.issuedOn),
      maybe('TmstCFE', one.signedAt),
      leaf('Estado', context.oddState ?? one.verdict),
      ...one.reasons.map((reason) => reasonElement(element, reason)),
      original ? originalElement(original) : '',
    );
  });
  return (
    DECLARATION +
    signEnveloped(
      `<ACKCFE xmlns="${CFE_NS}" version="1.0">${caratula}${details.join('')}</ACKCFE>`,
      context.signer,
    )
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

/** A service's exception, which travels where the answer would (transport.md §11). */
export const exception = (code: ExceptionCode, detail = ''): string =>
  DECLARATION +
  tag(
    'Respuestas',
    tag('Respuesta', leaf('codigo', code), leaf('descripcion', EXCEPTIONS[code]), leaf('detalle', detail)),
  );

/** The Body of an answer of the reception service: a document as text. */
export const receptionAnswer = (operation: string, payload: string): string =>
  `<WS_eFactura.${operation}Response xmlns="${SERVICES_NS}">${tag('Dataout', tag('xmlData', cdata(payload)))}</WS_eFactura.${operation}Response>`;

/** A SOAP fault, complete and unsigned, as the gateway answers with HTTP 500. */
export const faultEnvelope = (side: 'Client' | 'Server', message: string): string =>
  `${DECLARATION}\n<env:Envelope xmlns:env="${SOAP_NS}">${tag('env:Body', tag('env:Fault', leaf('faultcode', `env:${side}`), leaf('faultstring', message)))}</env:Envelope>`;

/** The Body of a fault of the registry's service (transport.md §9, Errors). */
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
