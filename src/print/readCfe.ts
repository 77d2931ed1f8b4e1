/**
 * Reads the printed fields of a signed CFE (docs/authority/printed-form.md#fields) from its XML, including
 * fields that the service never writes: the form shows the signed data.
 */
import { type Element, Node } from '@xmldom/xmldom';
import { childrenNamed, childrenOf, elementAt, findNamed, parseXml, textAt } from '../dgi/xml/parse.ts';

/** Above any CFE: 700 lines of 1,080 characters, with markup, each character as an entity of up to five. */
const MOST_CHARACTERS = 16_000_000;

/** Child elements by name; the first of several with the same name. */
export type PrintedFields = Readonly<Record<string, string | undefined>>;

/** A CFE as printed. Dates and figures are the text of the XML. */
export interface ParsedCfe {
  /** TipoCFE. */
  readonly typeCode: number;
  readonly identification: PrintedFields;
  readonly issuer: PrintedFields;
  readonly phones: readonly string[];
  readonly receiver: PrintedFields;
  readonly totals: PrintedFields;
  readonly retentions: readonly PrintedFields[];
  readonly lines: readonly PrintedFields[];
  readonly adjustments: readonly PrintedFields[];
  readonly payments: readonly PrintedFields[];
  readonly references: readonly PrintedFields[];
  readonly cae: PrintedFields;
  /** TmstFirma. */
  readonly signedAt: string;
  /** DigestValue of the signature. */
  readonly digest: string;
}

/** Reads a signed CFE; throws UnreadableXml for malformed XML. */
export function parseSignedCfe(xml: string): ParsedCfe {
  const cfe = parseXml(xml, { mostCharacters: MOST_CHARACTERS });
  const [content] = childrenOf(cfe);
  const header = elementAt(content, 'Encabezado');
  const zone = (name: string): PrintedFields => fieldsOf(elementAt(header, name));
  const rows = (list: string, row: string): PrintedFields[] => rowsOf(elementAt(content, list), row);
  const identification = zone('IdDoc');
  const signature = findNamed(cfe, 'Signature');
  return {
    typeCode: Number(identification['TipoCFE']),
    identification,
    issuer: zone('Emisor'),
    phones: rowsText(elementAt(header, 'Emisor'), 'Telefono'),
    receiver: zone('Receptor'),
    totals: zone('Totales'),
    retentions: rowsOf(elementAt(header, 'Totales'), 'RetencPercep'),
    lines: rows('Detalle', 'Item'),
    adjustments: rows('DscRcgGlobal', 'DRG_Item'),
    payments: rows('MediosPago', 'MedioPago'),
    references: rows('Referencia', 'Referencia'),
    cae: fieldsOf(elementAt(content, 'CAEData')),
    signedAt: textAt(content, 'TmstFirma') ?? '',
    digest: (signature && textAt(signature, 'SignedInfo', 'Reference', 'DigestValue')) ?? '',
  };
}

function fieldsOf(element: Element | undefined): PrintedFields {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  if (!element) return fields;
  // Walks the nodes without collecting them: a document may have thousands.
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === Node.ELEMENT_NODE) fields[child.localName ?? ''] ??= child.textContent ?? '';
  }
  return fields;
}

const rowsOf = (list: Element | undefined, name: string): PrintedFields[] =>
  list ? childrenNamed(list, name).map(fieldsOf) : [];

const rowsText = (list: Element | undefined, name: string): string[] =>
  list ? childrenNamed(list, name).map(({ textContent }) => textContent ?? '') : [];
