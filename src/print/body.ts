/** The body of the printed form: items, sums, references, notes, in the required order. */

import { money, quantity } from '../domain/values/figures.ts';
import { TOTALS } from '../words/es/printedForm.ts';
import { type PrintedForm, referenceLine } from './blocks.ts';
import type { Tag } from './pen.ts';
import {
  type Entry,
  inset,
  labelAndFigure,
  MM,
  type Piece,
  paragraph,
  sideBySide,
  space,
  stack,
  widthOf,
  wrapInElement,
} from './pieces.ts';
import type { PrintedFields } from './readCfe.ts';

/** A run of rows that may continue on further sheets. */
export interface BodySection {
  /** The section's element in the document's structure. */
  readonly tag: Tag;
  /** Space above the section, except at the top of a sheet. */
  readonly gap: number;
  /** Repeated above the rows of every sheet. */
  readonly head?: Piece;
  readonly rows: readonly Piece[];
  /** Whether to keep the section together if it fits on one sheet. */
  readonly together?: boolean;
  /** Whether every sheet has a frame around the section. */
  readonly framed?: boolean;
}

const GAP = 3 * MM;
/** The required distance between the adenda and the data of the CFE (zone J). */
const ADENDA_GAP = 5 * MM;
const ROW_GAP = 0.8 * MM;
/** MntBruto of a CFE whose prices include VAT. */
const WITH_VAT = '1';
/** IndFact of a line that lowers the payable amount without being billed. */
const NON_BILLABLE_NEGATIVE = '7';

/** Returns the sections of a form `width` wide; a `narrow` one has no columns. */
export function bodyOf(form: PrintedForm, width: number, narrow: boolean): BodySection[] {
  const { payments, references, identification } = form.cfe;
  return [
    narrow ? itemList(form, width) : itemTable(form, width),
    notes(
      [{ text: form.cfe.identification['MntBruto'] === WITH_VAT ? 'Precios con IVA incluido' : '' }],
      width,
    ),
    totals(form, width, narrow),
    listed('Medios de pago', payments.map(paymentPair(width)), width),
    listed(
      'Referencias',
      references.map((reference) => paragraph({ text: referenceLine(reference) }, width)),
      width,
    ),
    // May be a legally required legend (zone A, field 16).
    notes([{ text: identification['InfoAdicionalDoc'] ?? '', letters: 'large' }], width),
    adenda(form, width),
  ].filter(({ rows }) => rows.length > 0);
}

const TITLE = { weight: 'bold' } as const;

const listed = (title: string, rows: Piece[], width: number): BodySection => ({
  tag: 'Sect',
  gap: GAP,
  rows: rows.length > 0 ? [paragraph({ ...TITLE, text: title }, width), ...rows] : [],
  together: true,
});

const notes = (entries: Entry[], width: number): BodySection => ({
  tag: 'Sect',
  gap: GAP,
  rows: entries.map((entry) => paragraph(entry, width)).filter(({ height }) => height > 0),
  together: true,
});

const paymentPair =
  (width: number) =>
  (payment: PrintedFields): Piece =>
    labelAndFigure(
      { text: payment['GlosaMP'] ?? payment['CodMP'] ?? '' },
      { text: money(payment['ValorPago'] ?? '') },
      width,
    );

/**
 * Returns the texts below a line's name: NCM, description, discount and surcharge (zone B, fields 7.1, 8, 13,
 * 17).
 */
const belowName = (line: PrintedFields): Entry[] =>
  [
    line['NCM'] && `NCM ${line['NCM']}`,
    line['DscItem'],
    line['DescuentoMonto'] && `Descuento ${money(line['DescuentoMonto'])}`,
    line['RecargoMnt'] && `Recargo ${money(line['RecargoMnt'])}`,
  ].flatMap((text) => (text ? [{ text }] : []));

/** Puts a minus before an amount that lowers the receipt. */
const negative = (text: string): string => (text.startsWith('-') ? text : `-${text}`);

const unitOf = (line: PrintedFields): string => (line['UniMed'] === 'N/A' ? '' : (line['UniMed'] ?? ''));
const amountOf = (line: PrintedFields): string =>
  line['IndFact'] === NON_BILLABLE_NEGATIVE
    ? negative(money(line['MontoItem'] ?? ''))
    : money(line['MontoItem'] ?? '');

const DESCRIPTION = 'Descripción';
/** Columns of the table on A4, from the left; the description takes the remaining width, also that of empty columns. */
const COLUMNS = [
  { title: 'Cantidad', align: 'right', text: (line: PrintedFields) => quantity(line['Cantidad'] ?? '') },
  { title: 'Unidad', align: 'left', text: unitOf },
  { title: DESCRIPTION, align: 'left', text: (line: PrintedFields) => line['NomItem'] ?? '' },
  {
    title: 'Precio unitario',
    align: 'right',
    text: (line: PrintedFields) => money(line['PrecioUnitario'] ?? ''),
  },
  { title: 'Importe', align: 'right', text: amountOf },
] as const;
const COLUMN_GAP = 3 * MM;
const LEAST_BELOW_WIDTH = 100 * MM;
const SHADE_HEIGHT = 1.2 * MM;

function itemTable({ cfe: { lines } }: PrintedForm, width: number): BodySection {
  const columns = COLUMNS.filter(({ text }) => lines.some((line) => text(line) !== ''));
  const described = columns.findIndex(({ title }) => title === DESCRIPTION);
  const widths = columns.map(({ title, text }) =>
    lines.reduce(
      (most, line) => Math.max(most, widthOf({ text: text(line) })),
      widthOf({ ...TITLE, text: title }),
    ),
  );
  const others = widths.reduce((sum, each, index) => (index === described ? sum : sum + each), 0);
  widths[described] = width - others - COLUMN_GAP * (columns.length - 1);
  const starts = widths.map((_, index) =>
    widths.slice(0, index).reduce((sum, each) => sum + each + COLUMN_GAP, 0),
  );
  const nameWidth = widths[described] ?? 0;
  const nameStart = starts[described] ?? 0;
  // Texts below the name may run under the figures.
  const belowWidth = Math.max(nameWidth, Math.min(LEAST_BELOW_WIDTH, width - nameStart));
  const cell = (index: number, text: string, tag: 'TH' | 'TD'): Piece => {
    const look = tag === 'TH' ? TITLE : {};
    const entry: Entry = { ...look, text, align: columns[index]?.align ?? 'left' };
    return paragraph(entry, widths[index] ?? 0, tag);
  };
  const inColumns = (pieces: readonly Piece[]): Piece =>
    sideBySide(pieces.map((piece, index) => ({ piece, at: starts[index] ?? 0 })));
  const row = (line: PrintedFields): Piece => {
    const cells = columns.map(({ text }, index) => cell(index, text(line), 'TD'));
    const below = belowName(line).map((entry) => inset(paragraph(entry, belowWidth, 'TD'), nameStart));
    return wrapInElement('TR', stack([inColumns(cells), ...below, space(ROW_GAP)]));
  };
  const head = inColumns(columns.map(({ title }, index) => cell(index, title, 'TH')));
  return { tag: 'Table', gap: GAP, head: wrapInElement('TR', shaded(head, width)), rows: lines.map(row) };
}

/** Draws a piece on a grey background, with a little space below. */
const shaded = (piece: Piece, width: number): Piece => ({
  height: piece.height + SHADE_HEIGHT,
  draw(pen, place, x, y) {
    pen.artifact(() => pen.shade(x - 1 * MM, y, width + 2 * MM, piece.height));
    piece.draw(pen, place, x, y);
  },
});

/** The items of a roll: name, the texts below it, then quantity and price against the amount. */
function itemList({ cfe: { lines } }: PrintedForm, width: number): BodySection {
  const row = (line: PrintedFields): Piece => {
    const [count, unit] = [quantity(line['Cantidad'] ?? ''), unitOf(line)];
    const price = `${count}${unit ? ` ${unit}` : ''} x ${money(line['PrecioUnitario'] ?? '')}`;
    const parts = [
      paragraph({ text: line['NomItem'] ?? '' }, width),
      ...belowName(line).map((entry) => paragraph(entry, width)),
      labelAndFigure({ text: price }, { text: amountOf(line) }, width),
      space(ROW_GAP),
    ];
    return wrapInElement('LI', wrapInElement('LBody', stack(parts)));
  };
  return { tag: 'L', gap: GAP, head: ruleOf(width, width), rows: lines.map(row) };
}

/** A horizontal line across the last `wide` points. */
const ruleOf = (width: number, wide: number): Piece => ({
  height: 1.5 * MM,
  draw: (pen, _, x, y) => pen.artifact(() => pen.rule(x + width - wide, y, wide)),
});

/** Width of the totals on A4. */
const TOTALS_WIDTH = 92 * MM;

function totals({ cfe, row: type }: PrintedForm, width: number, narrow: boolean): BodySection {
  const { totals, adjustments, retentions } = cfe;
  const wide = narrow ? width : TOTALS_WIDTH;
  const currency = totals['TpoMoneda'] ?? '';
  const row = (label: string, amount: string, look: Omit<Entry, 'text'> = {}): Piece =>
    inset(labelAndFigure({ ...look, text: label }, { ...look, text: amount }, wide), width - wide);
  const totalRows = TOTALS.flatMap(({ field, label, rate }) => {
    const amount = totals[field];
    // Omits MntTotal if equal to MntPagar.
    if (amount === undefined || (field === 'MntTotal' && amount === totals['MntPagar'])) return [];
    const percent = rate && totals[rate];
    return [row(percent ? `${label} (${quantity(percent)} %)` : label, money(amount))];
  });
  return {
    tag: 'Sect',
    gap: GAP,
    head: ruleOf(width, wide),
    rows: [
      ...adjustments.map((each) => row(each['GlosaDR'] ?? '', signed(each))),
      ...totalRows,
      ...retentions.map((each) => row(`Retención ${each['CodRet']}`, money(each['ValRetPerc'] ?? ''))),
      space(1 * MM),
      row(
        `${type.note === 'credit' ? 'Total a acreditar' : 'Total a pagar'} ${currency}`,
        money(totals['MntPagar'] ?? ''),
        { letters: 'large', weight: 'bold' },
      ),
    ],
    together: true,
  };
}

/** Returns the amount of an adjustment, negative for a discount (TpoMovDR D). */
const signed = (adjustment: PrintedFields): string => {
  const amount = money(adjustment['ValorDR'] ?? '');
  return adjustment['TpoMovDR'] === 'D' ? negative(amount) : amount;
};

const PADDING = 2 * MM;

/**
 * Zone J, delimited and 5 mm away from the data. Required legends come first: the first paragraph, up to an
 * empty line, is in large letters.
 */
function adenda({ receipt: { adenda = '' } }: PrintedForm, width: number): BodySection {
  const [legend = '', ...rest] = adenda.trim().split(/(?:\r\n|\r(?!\n)|\n)[^\S\r\n]*(?:\r\n|\r|\n)\s*/);
  const inner = width - 2 * PADDING;
  const lines = (text: string, letters: 'large' | 'small'): Piece[] =>
    text
      .split(/\r\n|\r|\n/)
      .map((line) => paragraph({ text: line, letters }, inner))
      .filter(({ height }) => height > 0);
  const paragraphs = rest.map((text) => [space(1 * MM), ...lines(text, 'small')]);
  const rows = [...lines(legend, 'large'), ...paragraphs.flat()].flatMap(
    ({ parts, ...row }) => parts ?? [row],
  );
  const head = inset(paragraph({ text: 'ADENDA', weight: 'bold' }, inner), PADDING);
  return { tag: 'Sect', gap: ADENDA_GAP, head, rows: rows.map((row) => inset(row, PADDING)), framed: true };
}
