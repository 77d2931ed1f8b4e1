/** The files that pages load: ours, and htmx and idiomorph as their packages bring them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);
const own = (name: string): URL => new URL(`files/${name}`, import.meta.url);

const FILES: Readonly<Record<string, { readonly type: string; readonly from: () => string | URL }>> = {
  'console.css': { type: 'text/css', from: () => own('console.css') },
  'console.js': { type: 'text/javascript', from: () => own('console.js') },
  'icon.svg': { type: 'image/svg+xml', from: () => own('icon.svg') },
  'htmx.js': { type: 'text/javascript', from: () => resolve('htmx.org/dist/htmx.min.js') },
  'idiomorph.js': { type: 'text/javascript', from: () => resolve('idiomorph/dist/idiomorph-ext.min.js') },
};

/** One file, and the tag by which a browser knows whether it has it already. */
export interface StaticFile {
  readonly type: string;
  readonly content: Buffer;
  readonly etag: string;
}

const read = new Map<string, StaticFile>();

/** The file of that name, read once; null where there is none. */
export function staticFile(name: string): StaticFile | null {
  const row = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (!row) return null;
  const known = read.get(name);
  if (known) return known;
  const content = readFileSync(row.from());
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  const file = { type: row.type, content, etag };
  read.set(name, file);
  return file;
}
