import Big from 'big.js';
import { dayInMontevideo, momentOf } from '../clock.ts';
import type { ReceiptFacts } from '../state/facts.ts';
import { CFE_NS } from '../xml/names.ts';
import { childOf, textAt, type XmlTree } from '../xml/read.ts';
import { FAMILY_BY_ROOT, type Family } from './format/layout.ts';

/** A zone of a receipt, its leaves by name. */
export class Zone {
  readonly tree: XmlTree | undefined;

  constructor(tree: XmlTree | undefined) {
    this.tree = tree;
  }

  /** The text of a leaf; undefined when it is missing. */
  text(name: string): string | undefined {
    return textAt(this.tree, name);
  }

  /** Whether the leaf is there. */
  has(name: string): boolean {
    return this.text(name) !== undefined;
  }

  /** The exact amount in a leaf; 0 when it is missing. Only for receipts with a valid structure. */
  amount(name: string): Big {
    return new Big(this.text(name) ?? '0');
  }

  /** The zones of that name in this one. */
  all(name: string): Zone[] {
    return (this.tree?.children ?? []).filter((child) => child.name === name).map((child) => new Zone(child));
  }
}

/** A receipt parsed for the rules. */
export interface ParsedReceipt {
  readonly family: Family;
  /** 101 … 123. */
  readonly type: number;
  readonly isNote: boolean;
  /** TmstFirma as written. */
  readonly signedAt: string;
  readonly idDoc: Zone;
  readonly issuer: Zone;
  /** null when the element is missing. */
  readonly receiver: Zone | null;
  readonly totals: Zone;
  readonly items: readonly Zone[];
  readonly globals: readonly Zone[];
  readonly payments: readonly Zone[];
  readonly references: readonly Zone[];
  readonly caeData: Zone;
}

/** The body of a CFE, beside its Signature; undefined when it is none of the nine types'. */
export function bodyOf(cfe: XmlTree): { readonly body: XmlTree; readonly family: Family } | undefined {
  for (const body of cfe.children) {
    const family = FAMILY_BY_ROOT[body.name];
    if (family && body.namespace === CFE_NS) return { body, family };
  }
  return undefined;
}

/** What is wrong with the CFE element itself: its version (A-C1), or anything beside a body and a Signature. */
export function* faultsOfEnvelope(cfe: XmlTree): Generator<string> {
  if (cfe.attributes['version'] !== '1.0') yield 'A-C1 version: debe ser 1.0';
  if (cfe.children.length !== 2 || cfe.text.trim() !== '')
    yield 'CFE: debe contener el comprobante y su Signature';
}

/** The receipt in a tree; what the tree lacks, the zones lack. */
export function readReceipt(body: XmlTree, family: Family): ParsedReceipt {
  const header = childOf(body, 'Encabezado');
  const receiver = childOf(header, 'Receptor');
  const idDoc = new Zone(childOf(header, 'IdDoc'));
  const type = Number(idDoc.text('TipoCFE'));
  return {
    family,
    type,
    isNote: type % 10 > 1,
    signedAt: textAt(body, 'TmstFirma') ?? '',
    idDoc,
    issuer: new Zone(childOf(header, 'Emisor')),
    receiver: receiver ? new Zone(receiver) : null,
    totals: new Zone(childOf(header, 'Totales')),
    items: new Zone(childOf(body, 'Detalle')).all('Item'),
    globals: new Zone(childOf(body, 'DscRcgGlobal')).all('DRG_Item'),
    payments: new Zone(childOf(body, 'MediosPago')).all('MedioPago'),
    references: new Zone(childOf(body, 'Referencia')).all('Referencia'),
    caeData: new Zone(childOf(body, 'CAEData')),
  };
}

/** What the daily report will be compared with. */
export function factsOf(receipt: ParsedReceipt): ReceiptFacts {
  const signedAt = momentOf(receipt.signedAt);
  const amounts: Record<string, string> = {};
  for (const leaf of receipt.totals.tree?.children ?? [])
    if (/^-?\d+(\.\d+)?$/.test(leaf.text)) amounts[leaf.name] = leaf.text;
  return {
    signedOn: signedAt ? dayInMontevideo(signedAt) : '',
    issuedOn: receipt.idDoc.text('FchEmis') ?? '',
    branch: receipt.issuer.text('CdgDGISucur') ?? '',
    isThirdParty: receipt.idDoc.text('IndPagCta3ros') === '1',
    currency: receipt.totals.text('TpoMoneda') ?? '',
    exchangeRate: amounts['TpoCambio'] ?? null,
    amounts,
  };
}
