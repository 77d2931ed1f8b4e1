/**
 * Reads the authority's list of electronic issuers (docs/authority/sobres.md#who-is-an-electronic-issuer).
 * It has over 100,000 entries, so it is scanned as text, not parsed into a tree. Sources disagree on the parent elements
 * and on case, so only the fields of an issuer are read; RUC is the first.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Element } from '@xmldom/xmldom';
import { UnreadableXml } from './parse.ts';

/** One issuer, verbatim; '' for a missing field. Days are `YYYY-MM-DD`. */
export interface ListedIssuer {
  readonly rut: string;
  readonly name: string;
  readonly mail: string;
  readonly since: string;
  readonly until: string;
}

/** Ten times the list of 2026. */
const MOST_BYTES = 256 * 1024 * 1024;

const unzip = promisify(gunzip);

/** Reads the list in an answer: UTF-8 in gzip in base64, with or without line breaks. Throws UnreadableXml. */
export async function readIssuers(answer: Element): Promise<Iterable<ListedIssuer>> {
  const zipped = Buffer.from(answer.textContent ?? '', 'base64');
  try {
    const bytes = await unzip(zipped, { maxOutputLength: MOST_BYTES });
    return issuersIn(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new UnreadableXml('not a compressed list');
  }
}

function* issuersIn(text: string): Generator<ListedIssuer> {
  let fields = new Map<string, string>();
  for (const [name, value] of leavesOf(text)) {
    if (name === 'RUC' && fields.size > 0) {
      yield issuerOf(fields);
      fields = new Map();
    }
    fields.set(name, value);
  }
  if (fields.has('RUC')) yield issuerOf(fields);
}

const issuerOf = (fields: ReadonlyMap<string, string>): ListedIssuer => ({
  rut: fields.get('RUC') ?? '',
  name: fields.get('DENOMINACION') ?? '',
  mail: fields.get('MAIL') ?? '',
  since: fields.get('FECHA_INICIO') ?? '',
  until: fields.get('FECHA_FIN') ?? '',
});

const CDATA = '<![CDATA[';

/** Yields the elements that hold only text, with their local names in capitals. */
function* leavesOf(text: string): Generator<[name: string, value: string]> {
  let at = text.indexOf('<');
  while (at !== -1) {
    const close = text.indexOf('>', at);
    if (close === -1) return;
    const name = nameIn(text.slice(at + 1, close));
    const isCdata = text.startsWith(CDATA, close + 1);
    const end = isCdata ? text.indexOf(']]>', close) : -1;
    const next = text.indexOf('<', end === -1 ? close : end);
    if (next === -1) return;
    if (text.startsWith('</', next) && nameIn(text.slice(next + 2, text.indexOf('>', next))) === name) {
      const value =
        end === -1 ? decodeEntities(text.slice(close + 1, next)) : text.slice(close + 1 + CDATA.length, end);
      yield [name, value.trim()];
    }
    at = next;
  }
}

/** Returns the local name of a tag without its brackets: `dgi:Mail xmlns="…"` gives `MAIL`. */
const nameIn = (tag: string): string => (tag.split(/[\s/]/, 1)[0] ?? '').replace(/^[^:]*:/, '').toUpperCase();

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (entity, hex, digits, name: string) => {
    const code = hex ? Number.parseInt(String(hex), 16) : Number(digits);
    if (name) return ENTITIES[name] ?? entity;
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
  });
