import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { DgiCredentials } from '../../../src/dgi/wsSecurity.ts';
import { selfSignedCertificate } from '../enterprises/selfSigned.ts';
import { rsaKey } from '../receipts/papers.ts';
import { type Keys, signCfe } from '../simulator/signing.ts';

const ISSUER_RUT = '210154140015';
export const AUTHORITY_RUT = '214844360018';

/** A company's credentials; the same key for all. */
export function credentialsOf(rut = ISSUER_RUT): DgiCredentials {
  const privateKey = createPrivateKey(rsaKey('company'));
  return { privateKey, certificateDer: selfSignedCertificate(privateKey, { rut }) };
}

/** forge signs in plain JavaScript, half a second a certificate: each is made once. */
const made = new Map<string, Keys>();

/** Keys as the authority has them; two names are two signers. */
export function authorityKeys(options: { name?: string; rut?: string; notAfter?: Date } = {}): Keys {
  const { name = 'authority', rut = AUTHORITY_RUT, notAfter } = options;
  const id = [name, rut, notAfter?.toISOString()].join();
  const keys = made.get(id) ?? makeKeys(rsaKey(name), { rut, ...(notAfter ? { notAfter } : {}) });
  made.set(id, keys);
  return keys;
}

function makeKeys(privateKey: string, of: { rut: string; notAfter?: Date }): Keys {
  const der = selfSignedCertificate(createPrivateKey(privateKey), of);
  return { privateKey, certificate: new X509Certificate(der) };
}

/** SHA-256 of a certificate as the configuration knows it. */
export const fingerprint = ({ certificate }: Keys): string =>
  certificate.fingerprint256.replaceAll(':', '').toLowerCase();

export interface AckWishes {
  keys?: Keys;
  hash?: 'sha1' | 'sha256';
  rut?: string;
  receiverRut?: string;
  idemisor?: string;
  idReceptor?: string;
  tmst?: string;
}

const caratula = (of: AckWishes, more: string): string =>
  `<Caratula><RUCReceptor>${of.receiverRut ?? AUTHORITY_RUT}</RUCReceptor><RUCEmisor>${of.rut ?? ISSUER_RUT}</RUCEmisor>` +
  `<IDRespuesta>9001</IDRespuesta><NomArch></NomArch><FecHRecibido>2026-03-02T10:00:00-03:00</FecHRecibido>` +
  `<IDEmisor>${of.idemisor ?? '7'}</IDEmisor><IDReceptor>${of.idReceptor ?? '4242'}</IDReceptor>${more}` +
  `<Tmst>${of.tmst ?? '2026-03-02T10:00:01-03:00'}</Tmst></Caratula>`;

const sign = (xml: string, of: AckWishes): string =>
  `<?xml version="1.0" encoding="UTF-8"?>${signCfe(xml, of.keys ?? authorityKeys(), { hash: of.hash ?? 'sha1' })}`;

const reason = (name: string, code: string): string =>
  `<${name}><Motivo>${code}</Motivo><Glosa>Palabras de ${code}</Glosa><Detalle>detalle</Detalle></${name}>`;

/** A signed ACKSobre: AS with token and hour, or what is wished. */
export function ackSobre(of: AckWishes & { state?: string; codes?: string[]; ticket?: string } = {}): string {
  const { state = 'AS', codes = [] } = of;
  const ticket =
    of.ticket ??
    '<ParamConsulta><Token>dG9rZW4=</Token><Fechahora>2026-03-02T10:05:00</Fechahora></ParamConsulta>';
  return sign(
    `<ACKSobre xmlns="http://cfe.dgi.gub.uy" version="1.0">${caratula(of, '<CantidadCFE>1</CantidadCFE>')}<Detalle>` +
      `<Estado>${state}</Estado>${codes.map((code) => reason('MotivosRechazo', code)).join('')}${state === 'AS' ? ticket : ''}</Detalle></ACKSobre>`,
    of,
  );
}

/** A signed ACKCFE with one receipt unless told. */
export function ackCfe(
  of: AckWishes & {
    state?: string;
    codes?: string[];
    receipt?: string;
    original?: string;
    receipts?: string;
  } = {},
): string {
  const { state = 'AE', codes = [], original = '' } = of;
  const receipt = of.receipt ?? '<TipoCFE>101</TipoCFE><Serie>A</Serie><NroCFE>12</NroCFE>';
  const reasons = codes.map((code) => reason(state === 'CE' ? 'ObsCFC' : 'MotivosRechazoCF', code)).join('');
  const receipts =
    of.receipts ??
    `<ACKCFE_Det><Nro_ordinal>1</Nro_ordinal>${receipt}<Estado>${state}</Estado>${reasons}${original}</ACKCFE_Det>`;
  return sign(
    `<ACKCFE xmlns="http://cfe.dgi.gub.uy" version="1.0">${caratula(of, '<CantenSobre>1</CantenSobre><CantResponden>1</CantResponden>')}${receipts}</ACKCFE>`,
    of,
  );
}

/** A signed ACKRepDiario: AR, or what is wished. */
export function ackReport(of: AckWishes & { state?: string; codes?: string[] } = {}): string {
  const { state = 'AR', codes = [] } = of;
  return sign(
    `<ACKRepDiario xmlns="http://cfe.dgi.gub.uy">${caratula(of, '')}<Detalle><Estado>${state}</Estado>` +
      `${codes.map((code) => reason('MotivosRechazo', code)).join('')}</Detalle></ACKRepDiario>`,
    of,
  );
}

/** An exception where the answer would stand. */
export const exception = (code: number): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Respuestas><Respuesta><codigo>${code}</codigo><descripcion>d</descripcion><detalle/></Respuesta></Respuestas>`;

export const envelope = (inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Body>${inner}</SOAP-ENV:Body></SOAP-ENV:Envelope>`;

/** A SOAP answer of the reception service around a document. */
export const soapAnswer = (
  operation: 'EFACRECEPCIONSOBRE' | 'EFACCONSULTARESTADOENVIO' | 'EFACRECEPCIONREPORTE',
  document: string,
): string =>
  envelope(
    `<WS_eFactura.${operation}Response xmlns="http://dgi.gub.uy"><Dataout><xmlData><![CDATA[${document}]]></xmlData></Dataout></WS_eFactura.${operation}Response>`,
  );

/** A SOAP answer of the consultation service. */
export const consultationAnswer = (operation: string, inner: string): string =>
  envelope(
    `<WS_eFactura_Consultas.${operation}Response xmlns="http://dgi.gub.uy">${inner}</WS_eFactura_Consultas.${operation}Response>`,
  );

/** One entry of the list of sobres. */
export const shipment = (state: string, of: { idemisor?: string; ticket?: string } = {}): string =>
  `<DatosSobre><EstadoSobre>${state}</EstadoSobre><FechaHoraSobre>2026-03-02T10:00:00</FechaHoraSobre><IdEmisor>${of.idemisor ?? '7'}</IdEmisor><IdReceptor>4242</IdReceptor>` +
  `${of.ticket ?? '<ParamConsulta><Token>dG9rZW4=</Token><Fechahora>2026-03-02T10:05:00</Fechahora></ParamConsulta>'}</DatosSobre>`;

/** The answer to EFACCONSULTARENVIOSSOBRE. */
export const shipments = (...entries: string[]): string =>
  consultationAnswer(
    'EFACCONSULTARENVIOSSOBRE',
    `<Ackconsultaenviossobre><ColeccionDatosSobre>${entries.join('')}</ColeccionDatosSobre></Ackconsultaenviossobre>`,
  );

/** A SOAP fault, with the registry's exception in it where a code is given. */
export const fault = (message: string, code?: number): string =>
  envelope(
    `<SOAP-ENV:Fault><faultcode>SOAP-ENV:Server</faultcode><faultstring>${message}</faultstring>${
      code === undefined
        ? ''
        : `<detail><GenericFault xmlns="http://dgi.gub.uy/faults"><Respuestas><Respuesta><Codigo>${code}</Codigo><Descripcion>d</Descripcion><Detalle>d</Detalle></Respuesta></Respuestas></GenericFault></detail>`
    }</SOAP-ENV:Fault>`,
  );
