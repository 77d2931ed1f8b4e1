/** The guides: one file of Markdown for each language in docs/guides/, by the same name in both; their code stands once, in docs/guides/code/. */
import { readFileSync } from 'node:fs';
import { Lexer, type Token, type Tokens } from 'marked';
import { CFE_WORDS, rejectionRows } from '../domain/words/cfes.ts';

/** Languages of the guides, the usual one first. */
export const LANGUAGES = ['es', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Every guide, in the order in which they are read. */
export const SLUGS = [
  'first-receipt',
  'going-live',
  'notes',
  'exports',
  'foreign-currency',
  'webhooks',
  'refused',
  'limits',
  'printing',
] as const;
export type Slug = (typeof SLUGS)[number];

/** Ways in which each step is written, by the word behind the fence of its block. */
export const CODES = ['sh', 'ts', 'py'] as const;
export type Code = (typeof CODES)[number];

export interface Guide {
  readonly slug: Slug;
  readonly language: Language;
  readonly title: string;
  readonly tokens: readonly Token[];
}

/** A paragraph in whose place blocks of code stand: a link to their heading in docs/guides/code/. */
const CODE_PLACE = /^\[[^\]]+\]\(\.\.\/code\/([a-z-]+\.md#[a-z-]+)\)$/;

/** In the place of this comment stands the table of the codes of rejections. */
const REJECTIONS_PLACE = '<!-- rejections -->';

const guides = new Map<string, Guide>();

/** A guide, read once. */
export function guideOf(language: Language, slug: Slug): Guide {
  const key = `${language}/${slug}`;
  const known = guides.get(key);
  if (known) return known;
  const blocks = blocksOf(slug);
  const tokens = tokensOf(key).flatMap((token) => {
    if (token.type === 'html' && token.raw.trim() === REJECTIONS_PLACE) return rejections(language);
    const [, place] = CODE_PLACE.exec(token.type === 'paragraph' ? token.raw.trim() : '') ?? [];
    if (place === undefined) return [token];
    const found = blocks.get(place);
    if (!found) throw new TypeError(`the guide ${key} has no code ${place}`);
    return found;
  });
  const title = tokens.find(
    (token): token is Tokens.Heading => token.type === 'heading' && token.depth === 1,
  );
  if (!title) throw new TypeError(`the guide ${key} has no title`);
  const guide = { slug, language, title: title.text, tokens };
  guides.set(key, guide);
  return guide;
}

const tokensOf = (file: string): Token[] =>
  new Lexer().lex(readFileSync(new URL(`../../docs/guides/${file}.md`, import.meta.url), 'utf8'));

/** The blocks of code of a guide, by how a language's file links to them. */
function blocksOf(slug: Slug): Map<string, Token[]> {
  const blocks = new Map<string, Token[]>();
  let here: Token[] = [];
  for (const token of tokensOf(`code/${slug}`)) {
    if (token.type === 'heading') {
      here = [];
      blocks.set(`${slug}.md#${token['text']}`, here);
    } else if (token.type === 'code') here.push(token);
  }
  return blocks;
}

function rejections(language: Language): Token[] {
  const head = { en: '| Code | What it means | What to do |', es: '| Código | Qué significa | Qué hacer |' };
  const rows = rejectionRows(CFE_WORDS[language]).map(
    ([code, means, mend]) => `| \`${code}\` | ${means} | ${mend} |`,
  );
  return new Lexer().lex([head[language], '|---|---|---|', ...rows].join('\n'));
}

/** The block's way of being written, or undefined for what all readers see. */
export function codeOf({ lang }: Pick<Tokens.Code, 'lang'>): Code | undefined {
  return CODES.find((code) => code === lang);
}

/** A heading's name in addresses: its words in small letters, without accents. */
export const anchorOf = (heading: string): string =>
  heading
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9. _-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-');

/** A part of a guide under its heading, its prose as text; for the search. */
export interface Section {
  readonly slug: Slug;
  readonly title: string;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

/** The parts of a guide. */
export function sectionsOf({ slug, title, tokens }: Guide): Section[] {
  const sections: { heading: string; text: string[] }[] = [{ heading: title, text: [] }];
  for (const token of tokens) {
    if (token.type === 'heading' && token['depth'] > 1)
      sections.push({ heading: String(token['text']), text: [] });
    else if (token.type !== 'code') sections.at(-1)?.text.push(plainText(token));
  }
  return sections.map(({ heading, text }) => ({
    slug,
    title,
    heading,
    anchor: heading === title ? '' : anchorOf(heading),
    text: text.join(' ').replaceAll(/\s+/g, ' ').trim(),
  }));
}

/** A token's words without its marks. */
export function plainText(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows]
      .flat()
      .map((cell) => cell.tokens.map(plainText).join(''))
      .join(' ');
  }
  const inner = 'items' in token ? (token.items as Token[]) : 'tokens' in token ? token.tokens : undefined;
  if (inner) return inner.map(plainText).join(token.type === 'list' ? ' ' : '');
  return 'text' in token ? String(token.text) : '';
}
