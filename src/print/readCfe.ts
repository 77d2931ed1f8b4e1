/**
 * The fields of a signed CFE that are printed (docs/authority/printed-form.md#fields), as they stand in its XML. Fields
 * that the service never writes are read all the same: the form shows what was signed.
 */
import { type Element, Node } from '@xmldom/xmldom';
import { childrenNamed, childrenOf, elementAt, findNamed, parseXml, textAt } from '../dgi/xml/parse.ts';

/** 700 lines of 1,080 characters, each of which may be written as five. */
const MOST_CHARACTERS = 16_000_000;

/** The child elements of one element, by name; of several with one name the first. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** A CFE as it is printed. Dates and figures are the text of the XML. */
export interface PrintedCfe {
  /** TipoCFE. */
  readonly typeCode: number;
  readonly identification: Fields;
  readonly issuer: Fields;
  readonly phones: readonly string[];
  readonly receiver: Fields;
  readonly totals: Fields;
  readonly retentions: readonly Fields[];
  readonly lines: readonly Fields[];
  readonly adjustments: readonly Fields[];
  readonly payments: readonly Fields[];
  readonly references: readonly Fields[];
  readonly cae: Fields;
  /** TmstFirma. */
  readonly signedAt: string;
  /** DigestValue of the signature. */
  readonly digest: string;
}

/** Reads a signed CFE; throws UnreadableXml where it is none. */
export function readCfe(xml: string): PrintedCfe {
  const cfe = parseXml(xml, { mostCharacters: MOST_CHARACTERS });
  const [content] = childrenOf(cfe);
  const header = elementAt(content, 'Encabezado');
  const zone = (name: string): Fields => fieldsOf(elementAt(header, name));
  const rows = (list: string, row: string): Fields[] => rowsOf(elementAt(content, list), row);
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

function fieldsOf(element: Element | undefined): Fields {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  if (!element) return fields;
  // A document may have thousands of these: its nodes are walked, not collected.
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === Node.ELEMENT_NODE) fields[child.localName ?? ''] ??= child.textContent ?? '';
  }
  return fields;
}

const rowsOf = (list: Element | undefined, name: string): Fields[] =>
  list ? childrenNamed(list, name).map(fieldsOf) : [];

const rowsText = (list: Element | undefined, name: string): string[] =>
  list ? childrenNamed(list, name).map(({ textContent }) => textContent ?? '') : [];
