/** A PDF seen from outside, by programs that had no part in making it (poppler, jsQR). Millimetres from the top left. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jsQR from 'jsqr';

const MM_PER_POINT = 25.4 / 72;
const MM_PER_INCH = 25.4;

/** Runs `use` with the PDF in a file, in a folder of its own. */
function withFile<T>(pdf: Uint8Array, use: (file: string, folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'print-'));
  try {
    const file = join(folder, 'it.pdf');
    writeFileSync(file, pdf);
    return use(file, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const run = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1e9 });

/** A page in grey. */
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly grey: Uint8Array;
}

/** The page, from 1, as a printer of that resolution sees it. */
function picture(pdf: Uint8Array, page: number, dpi: number): Picture {
  return withFile(pdf, (file, folder) => {
    const target = join(folder, 'page');
    run('pdftoppm', ['-gray', '-r', `${dpi}`, '-f', `${page}`, '-l', `${page}`, '-singlefile', file, target]);
    return readPgm(readFileSync(`${target}.pgm`));
  });
}

function readPgm(file: Buffer): Picture {
  const [head = '', width, height] = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(file.toString('latin1', 0, 64)) ?? [];
  return { width: Number(width), height: Number(height), grey: file.subarray(head.length) };
}

/** The QR code on a page: what it says, where it is and how wide. */
export interface Code {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** Reads the QR code of a page at a resolution. */
export function codeOn(pdf: Uint8Array, page: number, dpi: number): Code | null {
  const { width, height, grey } = picture(pdf, page, dpi);
  const rgba = new Uint8ClampedArray(width * height * 4);
  for (const [index, value] of grey.entries())
    rgba.fill(value, 4 * index, 4 * index + 3).fill(255, 4 * index + 3, 4 * index + 4);
  const read = jsQR.default(rgba, width, height, { inversionAttempts: 'dontInvert' });
  if (!read) return null;
  const { topLeftCorner, topRightCorner } = read.location;
  const scale = MM_PER_INCH / dpi;
  return {
    text: read.data,
    x: topLeftCorner.x * scale,
    y: topLeftCorner.y * scale,
    side: Math.hypot(topRightCorner.x - topLeftCorner.x, topRightCorner.y - topLeftCorner.y) * scale,
  };
}

export interface Word {
  readonly text: string;
  readonly page: number;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  /** Height of its capitals: its box is as high as the font's lines, 1.362 em, of which capitals are 0.714. */
  readonly capitals: number;
}

export interface Page {
  readonly width: number;
  readonly height: number;
  readonly words: readonly Word[];
}

const CAPITALS_OF_LINE = 0.714 / 1.362;

/** The words of each page with their places. */
export function pagesOf(pdf: Uint8Array): Page[] {
  const html = withFile(pdf, (file) => run('pdftotext', ['-bbox', file, '-']));
  return html
    .split('<page ')
    .slice(1)
    .map((text, index) => {
      const [width = 0, height = 0] = numbersIn(text.slice(0, text.indexOf('>')));
      const words = [...text.matchAll(/<word ([^>]*)>([^<]*)<\/word>/g)].map(([, box = '', word = '']) => {
        const [left = 0, top = 0, right = 0, bottom = 0] = numbersIn(box);
        const capitals = (bottom - top) * CAPITALS_OF_LINE;
        return { text: unescaped(word), page: index + 1, left, top, right, bottom, capitals };
      });
      return { width, height, words };
    });
}

const numbersIn = (attributes: string): number[] =>
  [...attributes.matchAll(/="([\d.]+)"/g)].map(([, value]) => Number(value) * MM_PER_POINT);

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };
const unescaped = (text: string): string => text.replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);

/** The text of the whole document or of a page, in reading order. */
export const textOf = (pdf: Uint8Array, page?: number): string =>
  withFile(pdf, (file) =>
    run('pdftotext', [...(page ? ['-f', `${page}`, '-l', `${page}`] : []), file, '-']).replace(/\s+/g, ' '),
  );

/** The fonts, one line each, as pdffonts tells of them. */
export const fontsOf = (pdf: Uint8Array): string[] =>
  withFile(pdf, (file) => run('pdffonts', [file]).trim().split('\n').slice(2));

/** The file inside the PDF. */
export const attachmentOf = (pdf: Uint8Array): { name: string; content: string } =>
  withFile(pdf, (file, folder) => {
    const name = /^1: (.*)$/m.exec(run('pdfdetach', ['-list', file]))?.[1] ?? '';
    run('pdfdetach', ['-save', '1', '-o', join(folder, 'attached'), file]);
    return { name, content: readFileSync(join(folder, 'attached'), 'utf8') };
  });
