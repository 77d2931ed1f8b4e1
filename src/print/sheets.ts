/** Positions the blocks on each paper, and divides a long receipt into sheets. */

import type { PaperSize } from '../domain/receipts/qr.ts';
import { type Block, EXPIRY_BOX, footLines, HEADER, type PrintedForm, qrBlock } from './blocks.ts';
import { type BodySection, bodyOf } from './body.ts';
import { logoPiece } from './logo.ts';
import type { Pen, StructurePlace } from './pen.ts';
import {
  box,
  EMPTY_PIECE,
  type Entry,
  inset,
  MM,
  type Piece,
  paragraph,
  sideBySide,
  space,
  stack,
  wrapInElement,
} from './pieces.ts';
import { qrSymbol } from './qrSymbol.ts';

/** A paper in points. */
interface Geometry {
  readonly width: number;
  /** Height of a sheet; for a roll the longest page of a PDF. */
  readonly height: number;
  /** A roll is cut at the end of the receipt, after at least 15 cm. */
  readonly shortest?: number;
  /** At least 5 mm without letters. */
  readonly margin: number;
  readonly narrow: boolean;
  /** Whether the lines of the foot are beside the QR block. */
  readonly footBeside: boolean;
  readonly logo: { readonly width: number; readonly height: number };
}

/** A dot of the thermal printers in the rule (203 dpi): whole dots are printed sharply. */
const DOT = 72 / 203;
const inDots = (points: number): number => Math.round(points / DOT) * DOT;

/** The longest page that PDF/A allows, in points (ISO 19005-3 §6.1.13): 5 m of paper. */
const LONGEST_PAGE = 14_400;
const ROLL = {
  height: inDots(LONGEST_PAGE) - DOT,
  shortest: inDots(150 * MM) + DOT,
  margin: 5.1 * MM,
  narrow: true,
};
const GEOMETRY: Readonly<Record<PaperSize, Geometry>> = {
  A4: {
    width: 595.28,
    height: 841.89,
    margin: 12 * MM,
    narrow: false,
    footBeside: true,
    logo: { width: 60 * MM, height: 25 * MM },
  },
  '80mm': { ...ROLL, width: 80 * MM, footBeside: true, logo: { width: 50 * MM, height: 20 * MM } },
  '58mm': { ...ROLL, width: 58 * MM, footBeside: false, logo: { width: 44 * MM, height: 20 * MM } },
};

const GAP = 3 * MM;
/** Width available to the line around a box. */
const LINE = 0.5;
const lines = (entries: readonly Entry[], width: number): Piece =>
  stack(entries.map((entry) => paragraph(entry, width)));

/** Returns a block `width` wide, in its box if it has one. */
function blockPiece(block: Pick<Block, 'box'>, entries: readonly Entry[], width: number): Piece {
  if (entries.length === 0) return EMPTY_PIECE;
  return block.box
    ? box(entries, { width, leastHeight: (block.box.height + LINE) * MM })
    : lines(entries, width);
}

type Header = Record<Block['name'], (width: number) => Piece>;

/** Returns the header's blocks by name, for the first sheet or a further one. */
function headerBlocks(form: PrintedForm, first: boolean): Header {
  const pieces = HEADER.map((block: Block) => {
    const entries = first ? block.lines(form) : (block.repeated?.(form) ?? []);
    return [block.name, (width: number) => blockPiece(first ? block : {}, entries, width)] as const;
  });
  return Object.fromEntries(pieces) as Header;
}

/** Returns a part of the header, which is kept together if it fits on one sheet. */
const headerPart = (piece: Piece): BodySection[] =>
  piece.height === 0 ? [] : [{ tag: 'Sect', gap: GAP, rows: [piece], together: true }];

/** Twice the height of a header with the longest texts in ordinary letters. */
const MOST_HEADER = 100 * MM;

/** A4: issuer on the left and document on the right, below them the receiver and the particulars. */
function sheetHeader(form: PrintedForm, width: number, logo: Piece): BodySection[] {
  const block = headerBlocks(form, true);
  const [left, right] = [0.58 * width, 0.38 * width];
  const at = width - right;
  const top = sideBySide([
    { piece: stack([logo, block.issuer(left)], 2 * MM), at: 0 },
    { piece: framed(block.document(right - 2 * GAP), right, GAP), at },
  ]);
  const boxWidth = 0.29 * width;
  const receiverBox = block.receiverBox(boxWidth);
  const beyond = receiverBox.height > 0 ? boxWidth + GAP : 0;
  const receiver = sideBySide([
    { piece: receiverBox, at: 0 },
    { piece: block.receiver(left - beyond), at: beyond },
    { piece: block.particulars(right - GAP), at: at + GAP },
  ]);
  // On paper too small for these positions, only the order matters.
  if (Math.max(top.height, receiver.height) > MOST_HEADER) return rollHeader(form, width, logo);
  return [markBox(block, width), top, block.taxpayer(boxWidth), receiver].flatMap(headerPart);
}

/** Rolls: everything in one column, in the required order. */
function rollHeader(form: PrintedForm, width: number, logo: Piece): BodySection[] {
  const block = headerBlocks(form, true);
  return [
    markBox(block, width),
    stack([logo, block.issuer(width)], 2 * MM),
    block.document(width),
    block.taxpayer(width),
    block.receiverBox(width),
    block.receiver(width),
    block.particulars(width),
  ].flatMap(headerPart);
}

/** The content repeated on every further sheet. */
function furtherHeader(form: PrintedForm, width: number): Piece {
  const block = headerBlocks(form, false);
  const names: Block['name'][] = ['issuer', 'document', 'receiverBox', 'receiver'];
  return stack([markBox(block, width), ...names.map((name) => block[name](width))], 1 * MM);
}

function markBox(block: Header, width: number): Piece {
  const marks = block.marks(width - 2 * GAP);
  return marks.height === 0 ? EMPTY_PIECE : framed(marks, width, GAP);
}

/** A frame around a piece that is narrower by the padding. */
const framed = (piece: Piece, width: number, padding: number): Piece => ({
  height: piece.height + padding,
  draw(pen, place, x, y) {
    pen.artifact(() => pen.frame(x, y, width, piece.height + padding));
    piece.draw(pen, place, x + padding, y + padding / 2);
  },
});

/** A module has 4 dots at 203 dpi, so that symbols are between 22 and 30 mm wide. */
const MODULE = 4 * DOT;
/** Space for the words below the symbol. */
const CODE_WIDTH = 32 * MM;

/** The quiet zone of a symbol: 3 mm at 22 mm, 5 mm at 30 mm, interpolated in between. */
const quietZone = (side: number): number => 3 * MM + ((side - 22 * MM) / (8 * MM)) * 2 * MM;

/** QR code and security code, including the code's quiet zone. */
function qrPiece(form: PrintedForm): Piece & { width: number } {
  const { url, lines: below } = qrBlock(form);
  const rows = qrSymbol(url);
  const side = rows.length * MODULE;
  const quiet = quietZone(side);
  const width = Math.max(CODE_WIDTH, side + 2 * quiet);
  const before = (width - side) / 2;
  const code = lines(below, width);
  const symbol: Piece = {
    height: 2 * quiet + side,
    draw: (pen, place, x, y) =>
      pen.content(place, 'Figure', () => pen.squares(rows, inDots(x + before), inDots(y + quiet), MODULE)),
  };
  const figure = wrapInElement('Figure', symbol, { alt: `Código QR: ${url}` });
  return { ...stack([figure, code]), width };
}

/** Returns the foot of a sheet: QR block and page number; on the last sheet also the other lines and the expiry box. */
function footPiece(
  form: PrintedForm,
  { narrow, footBeside }: Geometry,
  width: number,
): (sheet: Sheet) => Piece {
  const qr = qrPiece(form);
  const centred = inset(qr, (width - qr.width) / 2);
  const at = qr.width + GAP;
  const above = space(4 * MM);
  const boxWidth = narrow ? width : 56 * MM;
  const expiry = box(EXPIRY_BOX.lines(form), {
    width: boxWidth,
    leastHeight: (EXPIRY_BOX.box.height + LINE) * MM,
  });
  const text = lines(footLines(form), footBeside ? width - at - (narrow ? 0 : boxWidth + GAP) : width);
  const besideCode = [
    { piece: qr, at: 0 },
    { piece: stack([above, text]), at },
  ];
  const last = (): Piece => {
    if (!footBeside) return stack([centred, space(1 * MM), text, space(GAP), expiry]);
    if (narrow) return stack([sideBySide(besideCode), above, expiry]);
    return sideBySide([...besideCode, { piece: stack([above, expiry]), at: width - boxWidth }]);
  };
  const [onLast, onEach] = [last(), footBeside ? qr : centred];
  return ({ index, count }) => {
    const number = `Página ${index + 1} de ${count}`;
    const end = count === 1 ? EMPTY_PIECE : paragraph({ text: number, align: 'right' }, width);
    return stack([space(GAP), index === count - 1 ? onLast : onEach, end]);
  };
}

/** The index of a sheet, and the number of sheets. */
interface Sheet {
  readonly index: number;
  readonly count: number;
}

/** Part of a section on one sheet. */
interface Chunk {
  readonly section: BodySection;
  readonly pieces: Piece[];
  /** Space above. */
  readonly gap: number;
}

const FRAME_PADDING = 1.5 * MM;
const extraOf = ({ section, gap }: Pick<Chunk, 'section' | 'gap'>): number =>
  gap + (section.head?.height ?? 0) + (section.framed ? 2 * FRAME_PADDING : 0);
const heightOf = (chunk: Chunk): number =>
  extraOf(chunk) + chunk.pieces.reduce((sum, { height }) => sum + height, 0);
const usedBy = (chunks: readonly Chunk[]): number => chunks.reduce((sum, chunk) => sum + heightOf(chunk), 0);

/** Rows taller than this share of a sheet are divided, not moved to the next. */
const WHOLE_SHARE = 0.3;

/** Divides the body. `room`: the body's height on a sheet by index; `lastRoom`: its height if that sheet is the last. */
function divideBody(
  sections: readonly BodySection[],
  room: (sheet: number) => number,
  lastRoom: (sheet: number) => number,
): Chunk[][] {
  const sheets: Chunk[][] = [[]];
  let left = room(0);
  const sheet = (): Chunk[] => sheets.at(-1) ?? [];
  const turn = (): void => {
    left = room(sheets.length);
    sheets.push([]);
  };
  const place = (section: BodySection, piece: Piece): void => {
    const open = sheet().findLast((chunk) => chunk.section === section);
    const gap = sheet().length === 0 ? 0 : section.gap;
    const need = piece.height + (open ? 0 : extraOf({ section, gap }));
    if (need <= left) {
      if (open) open.pieces.push(piece);
      else sheet().push({ section, pieces: [piece], gap });
      left -= need;
      return;
    }
    const fresh = room(sheets.length) - extraOf({ section, gap: 0 });
    if (piece.height > fresh * WHOLE_SHARE && piece.parts) {
      for (const part of piece.parts) place(section, part);
      return;
    }
    if (piece.height > fresh) throw new RangeError('a line of the printed form is higher than a sheet');
    turn();
    place(section, piece);
  };
  for (const section of sections) {
    const whole = heightOf({ section, pieces: [...section.rows], gap: section.gap });
    if (section.together && whole > left && whole <= room(sheets.length)) turn();
    for (const row of section.rows) place(section, row);
  }
  return makeRoomForFoot(sheets, lastRoom);
}

/**
 * When the whole foot does not fit below the last part, that part or the foot alone moves to a further sheet.
 */
function makeRoomForFoot(sheets: Chunk[][], lastRoom: (sheet: number) => number): Chunk[][] {
  const kept = [...(sheets.at(-1) ?? [])];
  const moved: Chunk[] = [];
  while (usedBy(kept) > lastRoom(sheets.length - 1)) {
    const chunk = kept.pop();
    if (!chunk) break;
    const staying = chunk.section.together ? [] : chunk.pieces.slice(0, -1);
    const [next] = moved;
    if (next?.section === chunk.section) next.pieces.unshift(...chunk.pieces.slice(staying.length));
    else moved.unshift({ ...chunk, pieces: chunk.pieces.slice(staying.length) });
    if (staying.length > 0) kept.push({ ...chunk, pieces: staying });
  }
  if (moved.length === 0) return sheets;
  const fits = kept.length > 0 && usedBy(moved) <= lastRoom(sheets.length);
  return fits ? [...sheets.slice(0, -1), kept, moved] : [...sheets, []];
}

/** Draws the form on `paper`. */
export function drawSheets(pen: Pen, form: PrintedForm, paper: PaperSize): void {
  const geometry = GEOMETRY[paper];
  const { margin, narrow } = geometry;
  const width = geometry.width - 2 * margin;
  const logo = logoPiece(form.receipt.logo, geometry.logo);
  const header = narrow ? rollHeader(form, width, logo) : sheetHeader(form, width, logo);
  const sections = [...header, ...bodyOf(form, width, narrow)];
  const further = stack([furtherHeader(form, width), space(GAP)]);
  const foot = footPiece(form, geometry, width);
  const full = geometry.height - 2 * margin;
  // Every page number takes the same space.
  const roomAbove =
    ({ height }: Piece) =>
    (sheet: number): number =>
      full - (sheet === 0 ? 0 : further.height) - height;
  const singleSheet = chunksOnOne(sections);
  const sheets =
    usedBy(singleSheet) + foot({ index: 0, count: 1 }).height <= full
      ? [singleSheet]
      : divideBody(
          sections,
          roomAbove(foot({ index: 0, count: 2 })),
          roomAbove(foot({ index: 1, count: 2 })),
        );
  const places = new Map<BodySection, StructurePlace>();
  for (const [index, chunks] of sheets.entries()) {
    const sheet = { index, count: sheets.length };
    const head = index === 0 ? EMPTY_PIECE : further;
    drawSheet(pen, { geometry, head, chunks, places, foot: foot(sheet), last: index === sheets.length - 1 });
  }
}

const chunksOnOne = (sections: readonly BodySection[]): Chunk[] =>
  sections.map((section, index) => ({
    section,
    pieces: [...section.rows],
    gap: index === 0 ? 0 : section.gap,
  }));

interface SheetContent {
  readonly geometry: Geometry;
  /** Repeated from the first sheet. */
  readonly head: Piece;
  readonly chunks: readonly Chunk[];
  /** The elements of sections that started on an earlier sheet. */
  readonly places: Map<BodySection, StructurePlace>;
  readonly foot: Piece;
  readonly last: boolean;
}

function drawSheet(pen: Pen, { geometry, head, chunks, places, foot, last }: SheetContent): void {
  const { margin, width: paperWidth, shortest } = geometry;
  const width = paperWidth - 2 * margin;
  const needed = 2 * margin + head.height + usedBy(chunks) + foot.height;
  const height = shortest === undefined ? geometry.height : inDots(Math.max(shortest, needed + DOT));
  pen.page(paperWidth, height);
  pen.artifact(() => head.draw(pen, undefined, margin, margin));
  let y = margin + head.height;
  for (const chunk of chunks) {
    drawChunk(pen, chunk, places, margin, y, width);
    y += heightOf(chunk);
  }
  const drawFoot = (): void =>
    wrapInElement('Sect', foot).draw(pen, pen.root, margin, height - margin - foot.height);
  if (last) drawFoot();
  else pen.artifact(drawFoot);
}

function drawChunk(
  pen: Pen,
  chunk: Chunk,
  places: Map<BodySection, StructurePlace>,
  x: number,
  top: number,
  width: number,
): void {
  const { section, pieces, gap } = chunk;
  const continued = places.has(section);
  const place = places.get(section) ?? pen.element(pen.root, section.tag);
  places.set(section, place);
  let y = top + gap;
  if (section.framed) {
    pen.artifact(() => pen.frame(x, y, width, heightOf(chunk) - gap));
    y += FRAME_PADDING;
  }
  const { head } = section;
  if (head && continued) pen.artifact(() => head.draw(pen, place, x, y));
  else head?.draw(pen, place, x, y);
  y += head?.height ?? 0;
  for (const piece of pieces) {
    piece.draw(pen, place, x, y);
    y += piece.height;
  }
}
