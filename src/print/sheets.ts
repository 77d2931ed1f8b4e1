/** Where the blocks stand on each paper, and how a long receipt is divided into sheets. */

import type { Paper } from '../domain/qr.ts';
import { type Block, EXPIRY_BOX, type Form, footLines, HEADER, qrBlock } from './blocks.ts';
import { bodyOf, type Section } from './body.ts';
import { logoPiece } from './logo.ts';
import type { Pen, Place } from './pen.ts';
import {
  beside,
  box,
  EMPTY,
  type Entry,
  inset,
  MM,
  type Piece,
  paragraph,
  space,
  stack,
  within,
} from './pieces.ts';
import { qrSymbol } from './qrSymbol.ts';

/** A paper in points. */
interface Geometry {
  readonly width: number;
  /** Of a sheet; of a roll the longest that is one, since a sheet may have 35.6 cm at the most. */
  readonly height: number;
  /** A roll is cut where the receipt ends, but no sheet has less than 15 cm. */
  readonly shortest?: number;
  /** At least 5 mm have no letters. */
  readonly margin: number;
  readonly narrow: boolean;
  /** Whether the lines of the foot stand beside the QR block. */
  readonly footBeside: boolean;
  readonly logo: { readonly width: number; readonly height: number };
}

/** A dot of the thermal printers that the rule has in mind (203 dpi): what is drawn in whole dots is sharp there. */
const DOT = 72 / 203;
const inDots = (points: number): number => Math.round(points / DOT) * DOT;

const ROLL = {
  height: inDots(356 * MM) - DOT,
  shortest: inDots(150 * MM) + DOT,
  margin: 5.1 * MM,
  narrow: true,
};
const GEOMETRY: Readonly<Record<Paper, Geometry>> = {
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
/** What the line around a box may take of it. */
const LINE = 0.5;
const lines = (entries: readonly Entry[], width: number): Piece =>
  stack(entries.map((entry) => paragraph(entry, width)));

/** A block `width` wide, in its box where it has one. */
function blockPiece(block: Pick<Block, 'box'>, entries: readonly Entry[], width: number): Piece {
  if (entries.length === 0) return EMPTY;
  return block.box
    ? box(entries, { width, leastHeight: (block.box.height + LINE) * MM })
    : lines(entries, width);
}

type Header = Record<Block['name'], (width: number) => Piece>;

/** The header's blocks by name, as they are on the first sheet or on a further one. */
function headerBlocks(form: Form, first: boolean): Header {
  const pieces = HEADER.map((block: Block) => {
    const entries = first ? block.lines(form) : (block.repeated?.(form) ?? []);
    return [block.name, (width: number) => blockPiece(first ? block : {}, entries, width)] as const;
  });
  return Object.fromEntries(pieces) as Header;
}

/** A stretch of the header: not divided where a sheet has room for it. */
const stretch = (piece: Piece): Section[] =>
  piece.height === 0 ? [] : [{ tag: 'Sect', gap: GAP, rows: [piece], together: true }];

/** The longest texts in ordinary letters take half of it. */
const MOST_HEADER = 100 * MM;

/** A4: issuer on the left and document on the right, below them the receiver and the particulars. */
function sheetHeader(form: Form, width: number, logo: Piece): Section[] {
  const block = headerBlocks(form, true);
  const [left, right] = [0.58 * width, 0.38 * width];
  const at = width - right;
  const top = beside([
    { piece: stack([logo, block.issuer(left)], 2 * MM), at: 0 },
    { piece: framed(block.document(right - 2 * GAP), right, GAP), at },
  ]);
  const boxWidth = 0.29 * width;
  const receiverBox = block.receiverBox(boxWidth);
  const beyond = receiverBox.height > 0 ? boxWidth + GAP : 0;
  const receiver = beside([
    { piece: receiverBox, at: 0 },
    { piece: block.receiver(left - beyond), at: beyond },
    { piece: block.particulars(right - GAP), at: at + GAP },
  ]);
  // Where the paper is too small for the places, the order alone counts.
  if (Math.max(top.height, receiver.height) > MOST_HEADER) return rollHeader(form, width, logo);
  return [markBox(block, width), top, block.taxpayer(boxWidth), receiver].flatMap(stretch);
}

/** Rolls: everything below one another, in the order of the rule. */
function rollHeader(form: Form, width: number, logo: Piece): Section[] {
  const block = headerBlocks(form, true);
  return [
    markBox(block, width),
    stack([logo, block.issuer(width)], 2 * MM),
    block.document(width),
    block.taxpayer(width),
    block.receiverBox(width),
    block.receiver(width),
    block.particulars(width),
  ].flatMap(stretch);
}

/** What every further sheet repeats. */
function furtherHeader(form: Form, width: number): Piece {
  const block = headerBlocks(form, false);
  const names: Block['name'][] = ['issuer', 'document', 'receiverBox', 'receiver'];
  return stack([markBox(block, width), ...names.map((name) => block[name](width))], 1 * MM);
}

function markBox(block: Header, width: number): Piece {
  const marks = block.marks(width - 2 * GAP);
  return marks.height === 0 ? EMPTY : framed(marks, width, GAP);
}

/** A frame around a piece that is narrower than it by the padding. */
const framed = (piece: Piece, width: number, padding: number): Piece => ({
  height: piece.height + padding,
  draw(pen, place, x, y) {
    pen.artifact(() => pen.frame(x, y, width, piece.height + padding));
    piece.draw(pen, place, x + padding, y + padding / 2);
  },
});

/** Modules are 4 dots at 203 dpi, so that symbols are between 22 and 30 mm wide. */
const MODULE = 4 * DOT;
/** Room for the words below the symbol. */
const CODE_WIDTH = 32 * MM;

/** The free margin of a symbol: 3 mm at 22 mm, 5 mm at 30 mm, in between what lies between. */
const quietZone = (side: number): number => 3 * MM + ((side - 22 * MM) / (8 * MM)) * 2 * MM;

/** QR code and security code; the code's own margin is part of the piece. */
function qrPiece(form: Form): Piece & { width: number } {
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
  const figure = within('Figure', symbol, { alt: `Código QR: ${url}` });
  return { ...stack([figure, code]), width };
}

/** The foot: the QR block and the sheet's number on each sheet, all the rest on the last alone. */
function footPiece(form: Form, { narrow, footBeside }: Geometry, width: number): (sheet: Sheet) => Piece {
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
    if (narrow) return stack([beside(besideCode), above, expiry]);
    return beside([...besideCode, { piece: stack([above, expiry]), at: width - boxWidth }]);
  };
  const [onLast, onEach] = [last(), footBeside ? qr : centred];
  return ({ index, count }) => {
    const number = `Página ${index + 1} de ${count}`;
    const end = count === 1 ? EMPTY : paragraph({ text: number, align: 'right' }, width);
    return stack([space(GAP), index === count - 1 ? onLast : onEach, end]);
  };
}

/** Which of how many sheets. */
interface Sheet {
  readonly index: number;
  readonly count: number;
}

/** Part of a section on one sheet. */
interface Chunk {
  readonly section: Section;
  readonly pieces: Piece[];
  /** Room above. */
  readonly gap: number;
}

const FRAME_PADDING = 1.5 * MM;
const extraOf = ({ section, gap }: Pick<Chunk, 'section' | 'gap'>): number =>
  gap + (section.head?.height ?? 0) + (section.framed ? 2 * FRAME_PADDING : 0);
const heightOf = (chunk: Chunk): number =>
  extraOf(chunk) + chunk.pieces.reduce((sum, { height }) => sum + height, 0);
const usedBy = (chunks: readonly Chunk[]): number => chunks.reduce((sum, chunk) => sum + heightOf(chunk), 0);

/** What takes more of a sheet than this is divided rather than moved to the next. */
const WHOLE_SHARE = 0.3;

/** Divides the body: `room` is the height that the body has on the nth sheet, `lastRoom` what the last one has. */
function divide(
  sections: readonly Section[],
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
  const place = (section: Section, piece: Piece): void => {
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
  return withRoomForFoot(sheets, lastRoom);
}

/** Where the whole foot has no room below what stands last, that goes on to a further sheet, or the foot does alone. */
function withRoomForFoot(sheets: Chunk[][], lastRoom: (sheet: number) => number): Chunk[][] {
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
export function drawSheets(pen: Pen, form: Form, paper: Paper): void {
  const geometry = GEOMETRY[paper];
  const { margin, narrow } = geometry;
  const width = geometry.width - 2 * margin;
  const logo = logoPiece(form.receipt.logo, geometry.logo);
  const header = narrow ? rollHeader(form, width, logo) : sheetHeader(form, width, logo);
  const sections = [...header, ...bodyOf(form, width, narrow)];
  const further = stack([furtherHeader(form, width), space(GAP)]);
  const foot = footPiece(form, geometry, width);
  const full = geometry.height - 2 * margin;
  // The number of a sheet takes the same room whichever it is.
  const roomAbove =
    ({ height }: Piece) =>
    (sheet: number): number =>
      full - (sheet === 0 ? 0 : further.height) - height;
  const onOne = chunksOnOne(sections);
  const sheets =
    usedBy(onOne) + foot({ index: 0, count: 1 }).height <= full
      ? [onOne]
      : divide(sections, roomAbove(foot({ index: 0, count: 2 })), roomAbove(foot({ index: 1, count: 2 })));
  const places = new Map<Section, Place>();
  for (const [index, chunks] of sheets.entries()) {
    const sheet = { index, count: sheets.length };
    const head = index === 0 ? EMPTY : further;
    drawSheet(pen, { geometry, head, chunks, places, foot: foot(sheet), last: index === sheets.length - 1 });
  }
}

const chunksOnOne = (sections: readonly Section[]): Chunk[] =>
  sections.map((section, index) => ({
    section,
    pieces: [...section.rows],
    gap: index === 0 ? 0 : section.gap,
  }));

interface SheetContent {
  readonly geometry: Geometry;
  /** What is repeated from the first sheet. */
  readonly head: Piece;
  readonly chunks: readonly Chunk[];
  /** The elements of sections that began on an earlier sheet. */
  readonly places: Map<Section, Place>;
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
    within('Sect', foot).draw(pen, pen.root, margin, height - margin - foot.height);
  if (last) drawFoot();
  else pen.artifact(drawFoot);
}

function drawChunk(
  pen: Pen,
  chunk: Chunk,
  places: Map<Section, Place>,
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
