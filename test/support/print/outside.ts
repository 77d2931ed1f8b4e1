/** A PDF seen from outside, by programs that had no part in making it (poppler, jsQR). Millimetres from the top left. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import jsQR from 'jsqr';
import type { Picture } from './png.ts';

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

/** A part of a page in millimetres: all of it that there is. */
interface Part {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The page, from 1, or a part of it, as a printer of that resolution sees it. */
export function picture(pdf: Uint8Array, page: number, dpi: number, part?: Part): Picture {
  return withFile(pdf, (file, folder) => {
    const target = join(folder, 'page');
    const dots = (millimetres: number) => `${Math.round((millimetres * dpi) / MM_PER_INCH)}`;
    const crop = part
      ? ['-x', dots(part.left), '-y', dots(part.top), '-W', dots(part.width), '-H', dots(part.height)]
      : [];
    const which = ['-f', `${page}`, '-l', `${page}`, '-singlefile'];
    run('pdftoppm', ['-gray', '-r', `${dpi}`, ...which, ...crop, file, target]);
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

/** Where the code is looked for, since reading a whole page takes seconds: the lower left corner. */
const CORNER = { width: 60, height: 100 };

/** Reads the QR code in the lower left corner of a page at a resolution. */
export function codeOn(pdf: Uint8Array, page: number, dpi: number): Code | null {
  const top = Math.max(0, (pagesOf(pdf)[page - 1]?.height ?? 0) - CORNER.height);
  const { width, height, grey } = picture(pdf, page, dpi, { left: 0, top, ...CORNER });
  const rgba = new Uint8ClampedArray(width * height * 4);
  for (let dot = 0; dot < grey.length; dot += 1) {
    const value = grey[dot] ?? 0;
    rgba[4 * dot] = value;
    rgba[4 * dot + 1] = value;
    rgba[4 * dot + 2] = value;
    rgba[4 * dot + 3] = 255;
  }
  const read = jsQR.default(rgba, width, height, { inversionAttempts: 'dontInvert' });
  if (!read) return null;
  const { topLeftCorner, topRightCorner } = read.location;
  const scale = MM_PER_INCH / dpi;
  return {
    text: read.data,
    x: topLeftCorner.x * scale,
    y: top + topLeftCorner.y * scale,
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

/** The frame around a word: its width and height in millimetres, seen at 150 dpi; undefined without one. */
export function frameAround(pdf: Uint8Array, word: Word): { width: number; height: number } | undefined {
  const dpi = 150;
  const page = picture(pdf, word.page, dpi);
  const toDots = (millimetres: number) => Math.round((millimetres * dpi) / MM_PER_INCH);
  const isDark = (x: number, y: number) => (page.grey[y * page.width + x] ?? 255) < 128;
  // A line of the frame is dark for 4 mm; no stroke of a letter is.
  const reach = toDots(4);
  const isUpright = (x: number, y: number) => runOf((step) => isDark(x, y + step)) >= reach;
  const isLevel = (x: number, y: number) => runOf((step) => isDark(x + step, y)) >= reach;
  const [x, y] = [toDots((word.left + word.right) / 2), toDots((word.top + word.bottom) / 2)];
  const from = (
    start: number,
    step: 1 | -1,
    end: number,
    isLine: (at: number) => boolean,
  ): number | undefined => {
    for (let at = start; at !== end; at += step) if (isLine(at)) return at;
    return undefined;
  };
  const left = from(toDots(word.left), -1, 0, (at) => isUpright(at, y));
  const right = from(toDots(word.right), 1, page.width, (at) => isUpright(at, y));
  const top = from(toDots(word.top), -1, 0, (at) => isLevel(x, at));
  const bottom = from(toDots(word.bottom), 1, page.height, (at) => isLevel(x, at));
  if (left === undefined || right === undefined || top === undefined || bottom === undefined)
    return undefined;
  const scale = MM_PER_INCH / dpi;
  return { width: (right - left) * scale, height: (bottom - top) * scale };
}

/** How far it goes on being true to both sides. */
function runOf(isSo: (step: number) => boolean): number {
  if (!isSo(0)) return 0;
  let [before, after] = [0, 0];
  while (isSo(before - 1)) before -= 1;
  while (isSo(after + 1)) after += 1;
  return after - before + 1;
}
