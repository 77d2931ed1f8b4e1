/** Where the blocks stand on each paper, and how a long receipt is divided into sheets. */
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
import type { Paper } from './receipt.ts';

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
  margin: 5 * MM,
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
const lines = (entries: readonly Entry[], width: number): Piece =>
  stack(entries.map((entry) => paragraph(entry, width)));

/** A block `width` wide, in its box where it has one. */
function blockPiece(block: Pick<Block, 'box'>, entries: readonly Entry[], width: number): Piece {
  if (entries.length === 0) return EMPTY;
  return block.box ? box(entries, { width, leastHeight: block.box.height * MM }) : lines(entries, width);
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

/** A4: issuer on the left and document on the right, below them the receiver and the particulars. */
function sheetHeader(form: Form, width: number, logo: Piece, first: boolean): Piece {
  const block = headerBlocks(form, first);
  const [left, right] = [0.58 * width, 0.38 * width];
  const at = width - right;
  const issuer = stack([logo, block.issuer(left)], 2 * MM);
  const top = beside([
    { piece: issuer, at: 0 },
    { piece: first ? framed(block.document(right - 2 * GAP), right, GAP) : block.document(right), at },
  ]);
  const boxWidth = 0.29 * width;
  const receiverBox = block.receiverBox(boxWidth);
  const beyond = receiverBox.height > 0 && first ? boxWidth + GAP : 0;
  const receiver = beside([
    { piece: receiverBox, at: 0 },
    { piece: block.receiver(left - beyond), at: beyond },
    { piece: block.particulars(right - GAP), at: at + GAP },
  ]);
  const further = stack([receiverBox, block.receiver(width)]);
  return stack([markBox(block, width), top, block.taxpayer(boxWidth), first ? receiver : further], GAP);
}

/** Rolls: everything below one another, in the order of the rule. */
function rollHeader(form: Form, width: number, logo: Piece, first: boolean): Piece {
  const block = headerBlocks(form, first);
  return stack(
    [
      markBox(block, width),
      stack([logo, block.issuer(width)], 2 * MM),
      block.document(width),
      block.taxpayer(width),
      block.receiverBox(width),
      block.receiver(width),
      block.particulars(width),
    ],
    first ? GAP : 1 * MM,
  );
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
const CODE_WIDTH = 32 * MM;

/** The free margin of a symbol: 3 mm at 22 mm, 5 mm at 30 mm, in between what lies between. */
const quietZone = (side: number): number => 3 * MM + ((side - 22 * MM) / (8 * MM)) * 2 * MM;

/** QR code and security code; the code's own margin is part of the piece. */
function qrPiece(form: Form): Piece & { width: number } {
  const { url, lines: below } = qrBlock(form);
  const rows = qrSymbol(url);
  const side = rows.length * MODULE;
  const quiet = quietZone(side);
  const width = side + 2 * quiet;
  const code = lines(below, CODE_WIDTH);
  const symbol: Piece = {
    height: 2 * quiet + side,
    draw: (pen, place, x, y) =>
      pen.content(place, 'Figure', () => pen.squares(rows, inDots(x + quiet), inDots(y + quiet), MODULE)),
  };
  const figure = within('Figure', symbol, { alt: `Código QR: ${url}` });
  return { ...stack([figure, inset(code, (width - CODE_WIDTH) / 2)]), width };
}

/** The foot: the QR block and the sheet's number on each sheet, all the rest on the last alone. */
function footPiece(
  form: Form,
  geometry: Geometry,
  width: number,
  sheet: string | null,
  last: boolean,
): Piece {
  const qr = qrPiece(form);
  const number = sheet === null ? EMPTY : paragraph({ text: sheet, align: 'right' }, width);
  const centred = inset(qr, (width - qr.width) / 2);
  if (!last) return stack([geometry.footBeside ? qr : centred, number]);
  const expiry = (wide: number): Piece =>
    box(EXPIRY_BOX.lines(form), { width: wide, leastHeight: EXPIRY_BOX.box.height * MM });
  if (!geometry.footBeside)
    return stack([centred, space(1 * MM), lines(footLines(form), width), space(GAP), expiry(width), number]);
  const at = qr.width + GAP;
  const beyond = geometry.narrow ? 0 : 56 * MM;
  const text = inset(lines(footLines(form), width - at - (beyond && beyond + GAP)), 0, 4 * MM);
  const boxed = inset(expiry(beyond || width), 0, 4 * MM);
  return geometry.narrow
    ? stack([
        beside([
          { piece: qr, at: 0 },
          { piece: text, at },
        ]),
        boxed,
        number,
      ])
    : stack([
        beside([
          { piece: qr, at: 0 },
          { piece: text, at },
          { piece: boxed, at: width - beyond },
        ]),
        number,
      ]);
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
    if (piece.height > fresh && piece.parts && piece.parts.length > 1) {
      for (const part of piece.parts) place(section, part);
      return;
    }
    if (sheet().length === 0) throw new RangeError('a piece of the printed form is higher than a sheet');
    turn();
    place(section, piece);
  };
  for (const section of sections) {
    const whole = heightOf({ section, pieces: [...section.rows], gap: section.gap });
    if (section.together && whole > left && whole <= room(sheets.length)) turn();
    for (const row of section.rows) place(section, row);
  }
  return withRoomForFoot(sheets, room, lastRoom);
}

/** Moves what stands last to a sheet of its own where the whole foot would have no room below it. */
function withRoomForFoot(
  sheets: Chunk[][],
  room: (sheet: number) => number,
  lastRoom: (sheet: number) => number,
): Chunk[][] {
  const last = sheets.at(-1) ?? [];
  const most = lastRoom(sheets.length - 1);
  const moved: Chunk[] = [];
  while (usedBy(last) > most) {
    const chunk = last.at(-1);
    if (!chunk) break;
    const taken = chunk.section.together ? chunk.pieces.splice(0) : chunk.pieces.splice(-1);
    if (chunk.pieces.length === 0) last.pop();
    const [next] = moved;
    if (next?.section === chunk.section) next.pieces.unshift(...taken);
    else moved.unshift({ section: chunk.section, pieces: taken, gap: next ? chunk.section.gap : 0 });
  }
  if (moved.length === 0) return sheets;
  if (last.length === 0) sheets.pop();
  return [...sheets, ...(usedBy(moved) <= lastRoom(sheets.length) ? [moved] : [moved, []])].filter(
    (chunks, index, all) => chunks.length > 0 || index === all.length - 1 || room(index) < 0,
  );
}

/** Draws the form on `paper`. */
export function drawSheets(pen: Pen, form: Form, paper: Paper): void {
  const geometry = GEOMETRY[paper];
  const { margin, narrow } = geometry;
  const width = geometry.width - 2 * margin;
  const header = (first: boolean): Piece => {
    const logo = first ? logoPiece(form.receipt.logo, geometry.logo) : EMPTY;
    return narrow ? rollHeader(form, width, logo, first) : sheetHeader(form, width, logo, first);
  };
  const foot = (sheet: string | null, last: boolean): Piece => footPiece(form, geometry, width, sheet, last);
  const full = geometry.height - 2 * margin;
  const sections = bodyOf(form, width, narrow);
  const [first, further] = [header(true), header(false)];
  const heads = (sheet: number): number => (sheet === 0 ? first : further).height + GAP;
  // The number of the sheet takes the same room whichever it is.
  const [onEach, onLast] = [foot('Página', false), foot('Página', true)];
  const single = full - heads(0) - GAP - foot(null, true).height;
  const sheets =
    usedBy(chunksOnOne(sections)) <= single
      ? [chunksOnOne(sections)]
      : divide(
          sections,
          (sheet) => full - heads(sheet) - GAP - onEach.height,
          (sheet) => full - heads(sheet) - GAP - onLast.height,
        );
  const places = new Map<Section, Place>();
  for (const [index, chunks] of sheets.entries()) {
    const last = index === sheets.length - 1;
    const number = sheets.length === 1 ? null : `Página ${index + 1} de ${sheets.length}`;
    drawSheet(pen, {
      geometry,
      head: header(index === 0),
      repeated: index > 0,
      chunks,
      places,
      foot: foot(number, last),
      last,
    });
  }
}

const chunksOnOne = (sections: readonly Section[]): Chunk[] =>
  sections.map((section, index) => ({
    section,
    pieces: [...section.rows],
    gap: index === 0 ? 0 : section.gap,
  }));

interface Sheet {
  readonly geometry: Geometry;
  readonly head: Piece;
  /** Whether the head repeats what stands on the first sheet. */
  readonly repeated: boolean;
  readonly chunks: readonly Chunk[];
  /** The elements of sections that began on an earlier sheet. */
  readonly places: Map<Section, Place>;
  readonly foot: Piece;
  readonly last: boolean;
}

function drawSheet(pen: Pen, { geometry, head, repeated, chunks, places, foot, last }: Sheet): void {
  const { margin, width: paperWidth, shortest } = geometry;
  const width = paperWidth - 2 * margin;
  const needed = 2 * margin + head.height + GAP + usedBy(chunks) + GAP + foot.height;
  const height = shortest === undefined ? geometry.height : inDots(Math.max(shortest, needed + DOT));
  pen.page(paperWidth, height);
  const drawHead = (): void => within('Sect', head).draw(pen, pen.root, margin, margin);
  if (repeated) pen.artifact(drawHead);
  else drawHead();
  let y = margin + head.height + GAP;
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
