/** The sheet for the Postulación as a PDF, in Spanish like the authority's form. */
import { type ApplicationSheet, STATEMENT_ITEMS } from '../domain/enterprises/application.ts';
import { FIELD_NAMES } from '../words/application.ts';
import { applicationEs as words } from '../words/es/application.ts';
import { ASCENT, FACES, SPACING, toDrawable, type Weight, wrap } from './fonts.ts';
import { drawPdf, type Pen } from './pen.ts';

const MM = 72 / 25.4;
const PAPER = { width: 210 * MM, height: 297 * MM, margin: 18 * MM };
const WIDTH = PAPER.width - 2 * PAPER.margin;
const SIZE = { title: 16, heading: 12, text: 10, note: 8 } as const;
const GAP = 6;

interface Text {
  readonly text: string;
  readonly size: number;
  readonly weight: Weight;
  readonly gap?: number;
}

/** Draws a sheet as a PDF; equal sheets of one day give equal bytes. */
export const drawApplicationSheet = (
  { fields }: ApplicationSheet,
  { legalName, date }: { legalName: string; date: string },
): Promise<Uint8Array> =>
  drawPdf({ title: words.title, createdAt: new Date(`${date}T12:00:00Z`) }, (pen) => {
    const write = createColumn(pen);
    write({ text: words.title, size: SIZE.title, weight: 'bold' });
    write({ text: `${legalName} · ${date}`, size: SIZE.text, weight: 'regular' });
    write({ text: words.form, size: SIZE.heading, weight: 'bold', gap: 2 * GAP });
    for (const { field, value } of fields) {
      write({ text: FIELD_NAMES[field], size: SIZE.note, weight: 'regular', gap: GAP });
      write({
        text: value ?? `(${words.fillIn})`,
        size: SIZE.text,
        weight: value === null ? 'regular' : 'bold',
      });
      const note = words.notes[field];
      if (note !== undefined) write({ text: note, size: SIZE.note, weight: 'regular' });
    }
    write({ text: words.statement, size: SIZE.heading, weight: 'bold', gap: 2 * GAP });
    write({ text: words.statementAbout, size: SIZE.text, weight: 'regular' });
    for (const [at, item] of STATEMENT_ITEMS.entries()) {
      const { what, backed } = words.items[item];
      write({ text: `${at + 1}. ${what}`, size: SIZE.text, weight: 'bold', gap: GAP });
      write({ text: backed, size: SIZE.text, weight: 'regular' });
    }
  });

/** Returns a function that writes paragraphs one below the other, on as many pages as needed. */
function createColumn(pen: Pen): (text: Text) => void {
  let y = PAPER.height;
  return ({ text, size, weight, gap = 0 }) => {
    const lines = wrap(toDrawable(text), FACES[weight], size, WIDTH);
    const height = lines.length * size * SPACING;
    if (y + gap + height > PAPER.height - PAPER.margin) {
      pen.page(PAPER.width, PAPER.height);
      y = PAPER.margin;
    } else y += gap;
    pen.content(pen.element(pen.root, 'P'), 'P', () => {
      for (const [at, line] of lines.entries())
        pen.text(line, weight, size, PAPER.margin, y + size * (at * SPACING + ASCENT));
    });
    y += height;
  };
}
