/** The guides: one file of Markdown for each language below `pages/`, by the same name in both. */
import { readFileSync } from 'node:fs';
import { Lexer, type Token, type Tokens } from 'marked';

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

const guides = new Map<string, Guide>();

/** A guide, read once. */
export function guideOf(language: Language, slug: Slug): Guide {
  const key = `${language}/${slug}`;
  const known = guides.get(key);
  if (known) return known;
  const tokens = new Lexer().lex(readFileSync(new URL(`pages/${key}.md`, import.meta.url), 'utf8'));
  const title = tokens.find(
    (token): token is Tokens.Heading => token.type === 'heading' && token.depth === 1,
  );
  if (!title) throw new TypeError(`the guide ${key} has no title`);
  const guide = { slug, language, title: title.text, tokens };
  guides.set(key, guide);
  return guide;
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
