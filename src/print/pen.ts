/**
 * Draws on the pages of one PDF/A-3a: text and figures as structure elements, lines and repetitions as
 * artefacts. Coordinates are points from the top left corner. Nothing in the file depends on time or chance.
 */
import PDFDocument from 'pdfkit';
import { FACES, type Weight } from './fonts.ts';

type Document = InstanceType<typeof PDFDocument>;
type StructureElement = ReturnType<Document['struct']>;

/** Kinds of structure elements (ISO 32000-1 §14.8.4). */
export type Tag = 'Sect' | 'P' | 'Table' | 'TR' | 'TH' | 'TD' | 'Figure' | 'L' | 'LI' | 'LBody';

/** A position in the document's structure; null within an artefact. */
export type StructurePlace = StructureElement | undefined;

export interface Pen {
  /** The whole document. */
  readonly root: StructurePlace;
  /** Starts a page. */
  page(width: number, height: number): void;
  /** Adds an element to `parent`. */
  element(parent: StructurePlace, tag: Tag, options?: { alt?: string }): StructurePlace;
  /** Draws the contents of an element without child elements. */
  content(place: StructurePlace, tag: Tag, draw: () => void): void;
  /** Draws an artefact: ornament, or content repeated on every page. */
  artifact(draw: () => void): void;
  text(line: string, weight: Weight, size: number, x: number, baseline: number): void;
  /** Draws a line, a frame or a grey ground. */
  rule(x: number, y: number, width: number): void;
  frame(x: number, y: number, width: number, height: number): void;
  shade(x: number, y: number, width: number, height: number): void;
  /** Draws dark squares of `side`, row by row. */
  squares(rows: readonly boolean[][], x: number, y: number, side: number): void;
  image(bytes: Uint8Array, x: number, y: number, width: number, height: number): void;
}

export interface PdfMetadata {
  readonly title: string;
  /** The file's creation date. */
  readonly createdAt: Date;
  /** The embedded file, if any. */
  readonly attachment?: { readonly name: string; readonly description: string; readonly bytes: Uint8Array };
}

const LINE_WIDTH = 0.7;
const GREY = '#e6e6e6';

/** Returns the PDF drawn by `draw`. */
export async function drawPdf(metadata: PdfMetadata, draw: (pen: Pen) => void): Promise<Uint8Array> {
  const { title, createdAt, attachment } = metadata;
  const document = new PDFDocument({
    autoFirstPage: false,
    margin: 0,
    pdfVersion: '1.7',
    subset: 'PDF/A-3a',
    tagged: true,
    lang: 'es-UY',
    displayTitle: true,
    // PDFKit would use its own font, which is not embedded.
    font: '',
    info: { Title: title, Creator: 'cfe-service', CreationDate: createdAt, ModDate: createdAt },
  });
  const chunks: Uint8Array[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  document.on('data', (chunk: Uint8Array) => void chunks.push(chunk));
  document.on('end', resolve);
  document.on('error', reject);
  for (const [weight, { font }] of Object.entries(FACES)) {
    // The types only allow a path, but a parsed font works too.
    document.registerFont(weight, font as unknown as string);
  }
  if (attachment) attach(document, attachment, createdAt);
  const root = document.struct('Document');
  document.addStructure(root);
  draw(createPen(document, root));
  document.end();
  await promise;
  return joinChunks(chunks);
}

function attach(
  document: Document,
  { name, description, bytes }: NonNullable<PdfMetadata['attachment']>,
  createdAt: Date,
): void {
  // The types do not know AFRelationship, which PDF/A-3 requires.
  const attached: PDFKit.Mixins.PDFAttachmentOptions & { relationship: string } = {
    name,
    type: 'application/xml',
    description,
    creationDate: createdAt,
    modifiedDate: createdAt,
    relationship: 'Source',
  };
  document.file(Buffer.from(bytes), attached);
}

/** Joins chunks in a buffer of its own, which can be transferred between threads. */
function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function createPen(document: Document, root: StructureElement): Pen {
  let artifacts = 0;
  const artifact = (draw: () => void): void => {
    artifacts += 1;
    if (artifacts === 1) document.markContent('Artifact', { type: 'Layout' });
    draw();
    if (artifacts === 1) document.endMarkedContent();
    artifacts -= 1;
  };
  return {
    root,
    page: (width, height) => void document.addPage({ size: [width, height], margin: 0 }),
    element(parent, tag, options = {}) {
      if (!parent || artifacts > 0) return undefined;
      const element = document.struct(tag, { ...options, ...(tag === 'TH' ? { scope: 'Column' } : {}) });
      parent.add(element);
      return element;
    },
    content(place, tag, draw) {
      if (!place || artifacts > 0) return draw();
      const content = document.markStructureContent(tag);
      draw();
      document.endMarkedContent();
      place.add(content);
    },
    artifact,
    ...strokes(document),
  };
}

function strokes(document: Document): Pick<Pen, 'text' | 'rule' | 'frame' | 'shade' | 'squares' | 'image'> {
  return {
    text: (line, weight, size, x, baseline) =>
      void document.font(weight, size).text(line, x, baseline, { lineBreak: false, baseline: 'alphabetic' }),
    rule: (x, y, width) =>
      void document
        .lineWidth(LINE_WIDTH)
        .moveTo(x, y)
        .lineTo(x + width, y)
        .stroke(),
    frame: (x, y, width, height) => void document.lineWidth(LINE_WIDTH).rect(x, y, width, height).stroke(),
    shade: (x, y, width, height) => void document.rect(x, y, width, height).fill(GREY).fillColor('black'),
    squares(rows, x, y, side) {
      for (const [down, row] of rows.entries()) {
        for (let from = 0; from < row.length; from += 1) {
          if (!row[from]) continue;
          let to = from;
          while (row[to]) to += 1;
          document.rect(x + from * side, y + down * side, (to - from) * side, side);
          from = to;
        }
      }
      document.fill('black');
    },
    image: (bytes, x, y, width, height) => void document.image(Buffer.from(bytes), x, y, { width, height }),
  };
}
