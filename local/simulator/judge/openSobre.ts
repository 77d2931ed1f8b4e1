import type { X509Certificate } from 'node:crypto';
import { ENVIRONMENTS, type EnvironmentName } from '../environments.ts';
import { certificateFrom, decimalSerial, isValidAt, rucOf } from '../security/identity.ts';
import { topLevelExtents } from '../xml/cut.ts';
import { CFE_NS } from '../xml/names.ts';
import {
  childOf,
  parseXml,
  textAt,
  treeOf,
  withoutDeclaration,
  XmlRefused,
  type XmlTree,
} from '../xml/read.ts';
import type { Schemas } from '../xml/schemas.ts';
import type { SobreCode } from './codes.ts';
import { CARATULA } from './format/layout.ts';
import { faultsOfStructure } from './format/structure.ts';
import { bodyOf, type ParsedReceipt, readReceipt } from './reading.ts';

/** Largest sobre: 2 MB (docs/authority/sobres.md#caratula). */
const MOST_SOBRE_BYTES = 2 * 1024 * 1024;
const MOST_CFES = 250;

/** The sobre is refused as a whole. */
export class SobreRefused extends Error {
  override readonly name = 'SobreRefused';
  readonly code: SobreCode;
  constructor(code: SobreCode, detail: string) {
    super(detail);
    this.code = code;
  }
}

/** A receipt as it is in its sobre. */
export interface CfeInSobre {
  /** The text of the CFE element, cut out unchanged. */
  readonly xml: string;
  readonly body: XmlTree | undefined;
  /** The parsed receipt; undefined when its root is none of the nine types'. */
  readonly receipt: ParsedReceipt | undefined;
  readonly tree: XmlTree;
}

/** A sobre whose Caratula could be read. */
export interface OpenSobre {
  readonly rutReceptor: string;
  readonly rut: string;
  readonly idemisor: number;
  readonly statedCount: number;
  readonly certificateText: string;
  readonly cfes: readonly CfeInSobre[];
  readonly schemaPassed: boolean;
  /** What is wrong by the official schema; '' when nothing is. */
  readonly schemaFault: string;
}

/** Opens a sobre and checks its size (S07), that it is one (S01), and its form (S04). Throws SobreRefused. */
export function openSobre(text: string, schemas: Schemas | null): OpenSobre {
  if (Buffer.byteLength(text) > MOST_SOBRE_BYTES)
    throw new SobreRefused('S07', `máximo ${MOST_SOBRE_BYTES} bytes`);
  const xml = withoutDeclaration(text);
  const { root, schemaFault } = readSobre(xml, schemas);
  const [caratula, ...cfes] = root.children;
  if (caratula?.name !== 'Caratula' || caratula.namespace !== CFE_NS)
    throw new SobreRefused('S04', 'falta Caratula');
  const [fault] = [...faultsOfStructure(caratula, CARATULA), ...faultsOfForm(root, caratula, cfes)];
  if (fault !== undefined) throw new SobreRefused('S04', fault);
  const extents = topLevelExtents(xml).slice(1);
  const read = (name: string): string => textAt(caratula, name) ?? '';
  return {
    rutReceptor: read('RutReceptor'),
    rut: read('RUCEmisor'),
    idemisor: Number(read('Idemisor')),
    statedCount: Number(read('CantCFE')),
    certificateText: read('X509Certificate'),
    cfes: cfes.map((tree, index) => {
      const extent = extents[index];
      const found = bodyOf(tree);
      const receipt = found ? readReceipt(found.body, found.family) : undefined;
      return { xml: xml.slice(extent?.start, extent?.end), body: found?.body, receipt, tree };
    }),
    schemaPassed: schemas !== null && schemaFault === '',
    schemaFault,
  };
}

function readSobre(xml: string, schemas: Schemas | null): { root: XmlTree; schemaFault: string } {
  try {
    using document = parseXml(xml);
    const root = treeOf(document.root);
    if (root.name !== 'EnvioCFE' || root.namespace !== CFE_NS)
      throw new SobreRefused('S01', 'no es un EnvioCFE');
    return { root, schemaFault: schemas?.sobre(document) ?? '' };
  } catch (error) {
    if (error instanceof XmlRefused) throw new SobreRefused('S01', 'no es XML bien formado, o trae DOCTYPE');
    throw error;
  }
}

function* faultsOfForm(root: XmlTree, caratula: XmlTree, cfes: readonly XmlTree[]): Generator<string> {
  for (const element of [root, caratula])
    if (element.attributes['version'] !== '1.0') yield `${element.name}: version debe ser 1.0`;
  if (root.text.trim() !== '') yield 'EnvioCFE: texto fuera de lugar';
  const stranger = cfes.find((cfe) => cfe.name !== 'CFE' || cfe.namespace !== CFE_NS);
  if (stranger) yield `EnvioCFE/${stranger.name}: no se espera en este lugar`;
  if (cfes.length === 0) yield 'EnvioCFE/CFE: falta';
  if (cfes.length > MOST_CFES) yield `EnvioCFE/CFE: más de ${MOST_CFES}`;
}

/** Checks whose sobre it is: the RUCs of shipment, Caratula and receiver (S02). Throws SobreRefused. */
export function checkParties(sobre: OpenSobre, environment: EnvironmentName, callerRut: string): void {
  if (sobre.rutReceptor !== ENVIRONMENTS[environment].rut)
    throw new SobreRefused('S02', 'RutReceptor no es el de DGI');
  if (sobre.rut !== callerRut) throw new SobreRefused('S02', 'RUCEmisor no es el de quien envía');
}

/**
 * Checks what a sobre claims about its content and returns the certificate of its Caratula: S03 certificate, S02 RUCs,
 * S05 count, S06 certificate of the receipts. Throws SobreRefused.
 */
export function checkContent(sobre: OpenSobre, now: Date): X509Certificate {
  const certificate = certificateFrom(sobre.certificateText);
  if (!certificate) throw new SobreRefused('S03', 'el certificado no puede leerse');
  if (certificate.publicKey.asymmetricKeyType !== 'rsa')
    throw new SobreRefused('S03', 'el certificado no es RSA');
  if (!isValidAt(certificate, now)) throw new SobreRefused('S03', 'el certificado no está vigente');
  if (rucOf(certificate) !== sobre.rut) throw new SobreRefused('S02', 'el certificado no es de RUCEmisor');
  for (const [index, { receipt }] of sobre.cfes.entries()) {
    const rut = receipt?.issuer.text('RUCEmisor');
    if (rut !== undefined && rut !== sobre.rut)
      throw new SobreRefused('S02', `el CFE ${index + 1} es de otro RUC`);
  }
  if (sobre.statedCount !== sobre.cfes.length)
    throw new SobreRefused('S05', `Caratula dice ${sobre.statedCount}, hay ${sobre.cfes.length}`);
  for (const [index, { tree }] of sobre.cfes.entries())
    if (!namesCertificate(tree, certificate))
      throw new SobreRefused('S06', `el CFE ${index + 1} nombra otro certificado`);
  return certificate;
}

/** Whether everything in a receipt's KeyInfo names that certificate. */
function namesCertificate(cfe: XmlTree, certificate: X509Certificate): boolean {
  const data = childOf(childOf(childOf(cfe, 'Signature'), 'KeyInfo'), 'X509Data');
  const embedded = textAt(data, 'X509Certificate');
  if (embedded !== undefined && !certificateFrom(embedded)?.raw.equals(certificate.raw)) return false;
  const serial = textAt(data, 'X509IssuerSerial', 'X509SerialNumber')?.trim();
  return serial === undefined || serial === decimalSerial(certificate);
}
