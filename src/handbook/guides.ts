/**
 * The guides: one Markdown file per guide and language in docs/guides/; their languages share the code in
 * docs/guides/code/.
 */
import { readFileSync } from 'node:fs';
import { Lexer, type Token, type Tokens } from 'marked';
import { CFE_WORDS, rejectionRows } from '../words/cfeStates.ts';

/** Languages of the guides, the default one first. */
export const GUIDE_LANGUAGES = ['es', 'en'] as const;
export type GuideLanguage = (typeof GUIDE_LANGUAGES)[number];

/** Every guide, in reading order. */
export const SLUGS = [
  'first-receipt',
  'going-live',
  'moving',
  'shop',
  'notes',
  'exports',
  'foreign-currency',
  'webhooks',
  'refused',
  'limits',
  'printing',
] as const;
export type Slug = (typeof SLUGS)[number];

/** Variants of each step's code, by the word after the fence of its block. */
export const CODE_VARIANTS = ['sh', 'ts', 'py'] as const;
export type Code = (typeof CODE_VARIANTS)[number];

export interface Guide {
  readonly slug: Slug;
  readonly language: GuideLanguage;
  readonly title: string;
  readonly tokens: readonly Token[];
}

/** A paragraph that is replaced by blocks of code: a link to their heading in docs/guides/code/. */
const CODE_PLACE = /^\[[^\]]+\]\(\.\.\/code\/([a-z-]+\.md#[a-z-]+)\)$/;

/** A comment that is replaced by the table of rejection codes. */
const REJECTIONS_PLACE = '<!-- rejections -->';

const guides = new Map<string, Guide>();

/** Returns a guide, parsed at the first call. */
export function guideOf(language: GuideLanguage, slug: Slug): Guide {
  const key = `${language}/${slug}`;
  const known = guides.get(key);
  if (known) return known;
  const blocks = blocksOf(slug);
  const tokens = tokensOf(key).flatMap((token) => {
    if (token.type === 'html' && token.raw.trim() === REJECTIONS_PLACE) return rejectionsTable(language);
    const [, place] = CODE_PLACE.exec(token.type === 'paragraph' ? token.raw.trim() : '') ?? [];
    if (place === undefined) return [token];
    const block = blocks.get(place);
    if (!block) throw new TypeError(`the guide ${key} has no code ${place}`);
    return block;
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

/** Returns the blocks of code of a guide, by the links in its language files. */
function blocksOf(slug: Slug): Map<string, Token[]> {
  const blocks = new Map<string, Token[]>();
  let current: Token[] = [];
  for (const token of tokensOf(`code/${slug}`)) {
    if (token.type === 'heading') {
      current = [];
      blocks.set(`${slug}.md#${token['text']}`, current);
    } else if (token.type === 'code') current.push(token);
  }
  return blocks;
}

function rejectionsTable(language: GuideLanguage): Token[] {
  const head = { en: '| Code | What it means | What to do |', es: '| Código | Qué significa | Qué hacer |' };
  const rows = rejectionRows(CFE_WORDS[language]).map(
    ([code, means, fix]) => `| \`${code}\` | ${means} | ${fix} |`,
  );
  return new Lexer().lex([head[language], '|---|---|---|', ...rows].join('\n'));
}

/** Returns the variant of a block, or undefined for blocks shown to all readers. */
export function codeVariantOf({ lang }: Pick<Tokens.Code, 'lang'>): Code | undefined {
  return CODE_VARIANTS.find((code) => code === lang);
}

/** Returns a heading's anchor: its words in lower case, without accents. */
export const anchorOf = (heading: string): string =>
  heading
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9. _-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-');

/** A part of a guide under its heading, with its prose as text; for the search. */
export interface GuideSection {
  readonly slug: Slug;
  readonly title: string;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

/** Returns the parts of a guide. */
export function sectionsOf({ slug, title, tokens }: Guide): GuideSection[] {
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

/** Returns a token's words without markup. */
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
