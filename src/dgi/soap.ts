/** SOAP 1.1 framing of the authority's services, document/literal (docs/authority/services.md#framing). */
import type { Element } from '@xmldom/xmldom';
import { readExceptions, type ServiceException } from './xml/ack.ts';
import { childrenOf, elementAt, isNamed, parseXml, textAt, UnreadableXml } from './xml/parse.ts';
import { element } from './xml/write.ts';

/** Namespace of the wrappers of all services except the registry, which uses a relative URI. */
const SERVICES = 'http://dgi.gub.uy';
const REGISTRY = 'DGI_Modernizacion_Consolidado';

export interface OperationRow {
  readonly service: 'reception' | 'consultation' | 'registry';
  readonly soapAction: string;
  /** The element of the request; the answer appends `Response`. */
  readonly element: string;
  readonly namespace: string;
  /** The largest answer, if larger than the default. */
  readonly mostBytes?: number;
}

/** The operations that we call. The missing slash before "action" and the letter A are the authority's spelling. */
export const OPERATIONS = {
  sendSobre: {
    service: 'reception',
    soapAction: 'http://dgi.gub.uyaction/AWS_EFACTURA.EFACRECEPCIONSOBRE',
    element: 'WS_eFactura.EFACRECEPCIONSOBRE',
    namespace: SERVICES,
  },
  askVerdict: {
    service: 'reception',
    soapAction: 'http://dgi.gub.uyaction/AWS_EFACTURA.EFACCONSULTARESTADOENVIO',
    element: 'WS_eFactura.EFACCONSULTARESTADOENVIO',
    namespace: SERVICES,
  },
  findSobre: {
    service: 'consultation',
    soapAction: 'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARENVIOSSOBRE',
    element: 'WS_eFactura_Consultas.EFACCONSULTARENVIOSSOBRE',
    namespace: SERVICES,
  },
  findCfe: {
    service: 'consultation',
    soapAction: 'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARESTADOCFE',
    element: 'WS_eFactura_Consultas.EFACCONSULTARESTADOCFE',
    namespace: SERVICES,
  },
  sendReport: {
    service: 'reception',
    soapAction: 'http://dgi.gub.uyaction/AWS_EFACTURA.EFACRECEPCIONREPORTE',
    element: 'WS_eFactura.EFACRECEPCIONREPORTE',
    namespace: SERVICES,
  },
  findReports: {
    service: 'consultation',
    soapAction: 'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARENVIOSREPORTE',
    element: 'WS_eFactura_Consultas.EFACCONSULTARENVIOSREPORTE',
    namespace: SERVICES,
  },
  readReportAnswer: {
    service: 'consultation',
    soapAction: 'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARRESPUESTAREPORTE',
    element: 'WS_eFactura_Consultas.EFACCONSULTARRESPUESTAREPORTE',
    namespace: SERVICES,
  },
  listIssuers: {
    service: 'consultation',
    soapAction:
      'http://dgi.gub.uyaction/AWS_EFACTURA_CONSULTAS.EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDOPROV',
    element: 'WS_eFactura_Consultas.EFACCONSULTARRUCEMISORESTRANSICIONCOMPRIMIDOPROV',
    namespace: SERVICES,
    mostBytes: 64 * 1024 * 1024,
  },
  lookUpRut: {
    service: 'registry',
    soapAction: 'DGI_Modernizacion_Consolidadoaction/AWS_PERSONAGETACTEMPRESARIAL.Execute',
    element: 'WS_PersonaGetActEmpresarial.Execute',
    namespace: REGISTRY,
  },
} as const satisfies Record<string, OperationRow>;
export type Operation = keyof typeof OPERATIONS;

/** Writes the element of a request around its parameters, which are XML already. */
export function writeCall(operation: Operation, parameters: string): string {
  const { element: name, namespace } = OPERATIONS[operation];
  return `<${name} xmlns="${namespace}">${parameters}</${name}>`;
}

/** Wraps a document as text (Datain/xmlData): the gateway would verify the signatures of child elements. */
export const wrapInXmlData = (document: string): string =>
  `<Datain><xmlData>${cdata(document)}</xmlData></Datain>`;

/** Writes a CDATA section, as in all official examples; splits an end mark in the text between two sections. */
const cdata = (text: string): string => `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;

/** Writes the query for a verdict, which has another namespace than the documents. */
export const writeVerdictQuery = (ticket: { idReceptor: string; token: string }): string =>
  wrapInXmlData(
    `<ConsultaCFE xmlns="${SERVICES}">${element('IdReceptor', ticket.idReceptor)}${element('Token', ticket.token)}</ConsultaCFE>`,
  );

/** A SOAP answer: the element that answers the operation, or a fault. */
export type SoapAnswer =
  | { readonly kind: 'answer'; readonly element: Element }
  | { readonly kind: 'fault'; readonly message: string; readonly exceptions: readonly ServiceException[] };

/** Parses a SOAP answer. Throws UnreadableXml when it does not answer the operation. */
export function readSoap(
  text: string,
  operation: Operation,
  options: { mostCharacters: number },
): SoapAnswer {
  const envelope = parseXml(text, options);
  const body = isNamed(envelope, 'Envelope') ? elementAt(envelope, 'Body') : undefined;
  const [content, ...more] = body ? childrenOf(body) : [];
  if (!content || more.length > 0) throw new UnreadableXml('not a SOAP answer');
  if (isNamed(content, 'Fault')) {
    // SOAP 1.1 has faultstring; 1.2, which some gateways fall back to, Reason/Text.
    const message = textAt(content, 'faultstring') ?? textAt(content, 'Reason', 'Text') ?? '';
    return { kind: 'fault', message, exceptions: readExceptions(content) };
  }
  if (isNamed(content, `${OPERATIONS[operation].element}Response`))
    return { kind: 'answer', element: content };
  throw new UnreadableXml('an answer to another operation');
}

/** Returns the document in an answer: xmlData, Data (registry) or Ackrepdiario (reports); undefined without one. */
export const readPayload = (answer: Element): string | undefined =>
  textAt(answer, 'Dataout', 'xmlData') ?? textAt(answer, 'Data') ?? textAt(answer, 'Ackrepdiario');
