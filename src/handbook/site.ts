/** The guides as pages: no scripts, nothing from other hosts. The URL selects the code variant, `?code=`. */
import { Marked, type Token, type Tokens } from 'marked';
import { RULE_TABLES } from '../domain/requests/ruleTables.ts';
import { REFUSAL_CODES } from '../errors.ts';
import { Html, html } from '../page/html.ts';
import { REJECTION_CODES } from '../words/cfeStates.ts';
import { handbookEn } from '../words/en/handbook.ts';
import { messageInSpanish } from '../words/errors.ts';
import { handbookEs } from '../words/es/handbook.ts';
import { RULES_IN_SPANISH } from '../words/es/rules.ts';
import {
  anchorOf,
  CODE_VARIANTS,
  type Code,
  codeVariantOf,
  GUIDE_LANGUAGES,
  type GuideLanguage,
  type GuideSection,
  guideOf,
  plainText,
  SLUGS,
  type Slug,
  sectionsOf,
} from './guides.ts';

const SITE_WORDS: Readonly<Record<GuideLanguage, typeof handbookEn>> = { es: handbookEs, en: handbookEn };

/** Names of the code variants. */
const CODE_NAMES: Readonly<Record<Code, string>> = { sh: 'curl', ts: 'TypeScript', py: 'Python' };
/** A comment that is replaced by the tables of all codes. */
const RULES_PLACE = /^<!-- rules -->\s*$/;
const MOST_RESULTS = 30;
/** Most words of a query that a search uses; further words could only narrow the results. */
const MOST_WORDS = 8;
const EXCERPT = 240;

/** The site's base path, and the page shown. */
export interface GuideVisit {
  /** Path of the site, without a trailing slash. */
  readonly base: string;
  readonly language: GuideLanguage;
  readonly code: Code;
}

/** The page of all guides and the reference. */
export function indexPage(visit: GuideVisit): string {
  const words = SITE_WORDS[visit.language];
  const content = html`<h1>${words.title}</h1>
    <p>${words.about}</p>
    <ul class="cards">
      ${SLUGS.map((slug) => html`<li>${guideLink(visit, slug)}</li>`)}
    </ul>
    <p><a href="${visit.base}/reference">${words.reference}</a>: ${words.referenceAbout}</p>`;
  return page(visit, { title: words.title, content, here: '' });
}

/** The page for unknown paths: a link to all guides, and the search. */
export function notFoundPage(visit: GuideVisit): string {
  const { lost, lostAbout, guides } = SITE_WORDS[visit.language];
  const content = html`<h1>${lost}</h1>
    <p>${lostAbout} <a href="${address(visit, '')}">${guides}</a>.</p>`;
  return page(visit, { title: lost, content, here: '' });
}

/** The page of one guide. */
export function guidePage(visit: GuideVisit, slug: Slug): string {
  const { title, tokens } = guideOf(visit.language, slug);
  const visible = tokens.filter((token) => {
    const code = token.type === 'code' ? codeVariantOf(token as Tokens.Code) : undefined;
    return code === undefined || code === visit.code;
  });
  return page(visit, { title, content: new Html(renderMarkdown(visit, visible)), here: slug });
}

/** An entry of the reference, in English: an operation, a field, a parameter or an event. */
export interface ReferencePart {
  readonly name: string;
  readonly text: string;
  /** Its anchor in the reference: `#/…`, or '' for the reference itself. */
  readonly place: string;
}

/** A searchable part of a guide or of the reference. */
interface Part {
  /** The guide with its anchor, or the anchor in the reference. */
  readonly to: { readonly slug: Slug; readonly anchor: string } | { readonly place: string };
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly folded: {
    readonly title: string;
    readonly heading: string;
    readonly text: string;
    /** Other words by which people search for this part. */
    readonly also: string;
    readonly all: string;
  };
}

/** Searches the guides of all languages and the reference. */
export type Search = (visit: GuideVisit, query: string) => string;

/**
 * Creates the search, which returns a page of results: the parts that contain every word of the query, parts with words in
 * their headings first, guides before the reference. Uses only the first distinct words of the query.
 */
export function createSearch(reference: readonly ReferencePart[]): Search {
  const parts = new Map<GuideLanguage, readonly Part[]>();
  // The parts never change, so they are folded once.
  const partsIn = (language: GuideLanguage): readonly Part[] => {
    const known = parts.get(language) ?? [
      ...partsOfGuides(language),
      ...partsOfReference(language, reference),
    ];
    parts.set(language, known);
    return known;
  };
  return (visit, query) => {
    const words = SITE_WORDS[visit.language];
    const queryWords = [...new Set(foldText(query).split(/\s+/).filter(Boolean))].slice(0, MOST_WORDS);
    const hasAll = ({ folded: { all } }: Part): boolean =>
      queryWords.every((word) => findWord(word, all) >= 0);
    const results = (queryWords.length === 0 ? [] : partsIn(visit.language).filter(hasAll))
      .map((part) => ({ part, rank: rank(part, queryWords) }))
      .toSorted((a, b) => b.rank - a.rank)
      .slice(0, MOST_RESULTS);
    const item = ({ part }: (typeof results)[number]): Html => {
      const { to, title, heading } = part;
      const name = heading === title ? title : `${title}: ${heading}`;
      const text = html`<p ${'place' in to && html`lang="en"`}>${excerpt(part, queryWords)}</p>`;
      return html`<li><a href="${hrefOf(visit, to)}">${name}</a>${text}</li>`;
    };
    const reference = html`<a href="${visit.base}/reference">${words.reference}</a>`;
    const content = html`<h1>${words.results(query)}</h1>
      ${
        results.length === 0
          ? html`<p>${words.none} ${reference}</p>`
          : html`<ol class="found">
              ${results.map(item)}
            </ol>`
      }`;
    return page(visit, { title: words.search, content, here: 'search', query });
  };
}

const partOf = ({ also, ...part }: Omit<Part, 'folded'> & { also: string }): Part => {
  const [title, heading, text, others] = [part.title, part.heading, part.text, also].map(foldText) as [
    string,
    string,
    string,
    string,
  ];
  const all = `${title} ${heading} ${text} ${others}`;
  return { ...part, folded: { title, heading, text, also: others, all } };
};

const partsOfGuides = (language: GuideLanguage): Part[] =>
  SLUGS.flatMap((slug) => [
    ...sectionsOf(guideOf(language, slug)),
    ...(slug === 'refused' ? codeSections(language) : []),
  ]).map(({ slug, anchor, title, heading, text }) =>
    partOf({
      to: { slug, anchor },
      title,
      heading,
      text,
      also: heading === title ? (SITE_WORDS[language].also[slug] ?? '') : '',
    }),
  );

const partsOfReference = (language: GuideLanguage, reference: readonly ReferencePart[]): Part[] =>
  reference.map(({ name, text, place }) =>
    partOf({ to: { place }, title: SITE_WORDS[language].reference, heading: name, text, also: '' }),
  );

const hrefOf = (visit: GuideVisit, to: Part['to']): string =>
  'place' in to
    ? `${visit.base}/reference${to.place}`
    : address(visit, to.slug) + (to.anchor && `#${to.anchor}`);

/**
 * Scores a part: two for a word in its heading or among its search words, one for a word in the title of its guide. In the
 * reference, whose names share words, only the exact name scores.
 */
function rank({ to, folded: { title, heading, also } }: Part, words: readonly string[]): number {
  if ('place' in to) return heading.split(' ').includes(words.join(' ')) ? 2 : 0;
  const has = (text: string, word: string): number => (findWord(word, text) >= 0 ? 1 : 0);
  return words.reduce((sum, word) => sum + 2 * has(`${heading} ${also}`, word) + has(title, word), 0);
}

/** Returns the position of a word in `text` that starts with `word`; -1 without one. */
function findWord(word: string, text: string): number {
  let place = text.indexOf(word);
  while (place > 0 && /[\p{L}\p{N}]/u.test(text.charAt(place - 1))) place = text.indexOf(word, place + 1);
  return place;
}

/** Returns an excerpt of a part's text, starting shortly before the first word found. */
function excerpt({ text, folded }: Part, words: readonly string[]): string {
  const places = words.map((word) => findWord(word, folded.text)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const start = first < EXCERPT / 2 ? 0 : text.lastIndexOf(' ', first - EXCERPT / 4) + 1;
  return (start > 0 ? '… ' : '') + text.slice(start, start + EXCERPT);
}

/** Removes accents and capitals, so that `anulacion` finds «Anulación». */
const foldText = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

const address = ({ base, language, code }: GuideVisit, slug: string): string =>
  `${base}/${language}${slug && `/${slug}`}?code=${code}`;

function guideLink(visit: GuideVisit, slug: Slug, here = ''): Html {
  const { title } = guideOf(visit.language, slug);
  return html`<a href="${address(visit, slug)}" ${slug === here && html`aria-current="page"`}>${title}</a>`;
}

function page(
  visit: GuideVisit,
  { title, content, here, query = '' }: { title: string; content: Html; here: string; query?: string },
): string {
  const { base, language, code } = visit;
  const words = SITE_WORDS[language];
  const there = (other: Partial<GuideVisit>): string =>
    address({ ...visit, ...other }, here) + (query && `&q=${encodeURIComponent(query)}`);
  const field = html`<input name="q" type="search" value="${query}" maxlength="100" />`;
  const search = html`<label><span>${words.search}</span>${field}</label>`;
  const current = (isCurrent: boolean): Html | false => isCurrent && html`aria-current="true"`;
  const languages = GUIDE_LANGUAGES.map((one) => {
    const href = there({ language: one });
    return html`<a href="${href}" lang="${one}" ${current(one === language)}>${SITE_WORDS[one].name}</a>`;
  });
  const programs = CODE_VARIANTS.map(
    (one) => html`<a href="${there({ code: one })}" ${current(one === code)}>${CODE_NAMES[one]}</a>`,
  );
  const guides = [
    ...SLUGS.map((slug) => html`<li>${guideLink(visit, slug, here)}</li>`),
    html`<li><a href="${base}/reference">${words.reference}</a></li>`,
    html`<li><a href="${base.replace(/\/docs$/, '')}/openapi.json">${words.description}</a></li>`,
  ];
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title === words.title ? title : `${title} · ${words.title}`}</title>
        <link rel="icon" href="${base}/favicon-32x32.png" />
        <link rel="stylesheet" href="${base}/handbook.css" />
      </head>
      <body>
        <a class="skip" href="#content">${words.skip}</a>
        <header>
          <a class="brand" href="${address(visit, '')}">${words.title}</a>
          <form action="${base}/${language}/search" role="search">
            <input type="hidden" name="code" value="${code}" />${search}
          </form>
          <nav aria-label="${words.language}">${languages}</nav>
          <nav aria-label="${words.code}">${programs}</nav>
        </header>
        <div class="columns">
          <nav class="guides" aria-label="${words.guides}">
            <ul>
              ${guides}
            </ul>
          </nav>
          <main id="content" tabindex="-1">${content}</main>
        </div>
      </body>
    </html>`.text;
}

/** Renders our Markdown as HTML; links to other guides keep language and code variant. */
function renderMarkdown(visit: GuideVisit, tokens: readonly Token[]): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens: inner, depth, text }) {
        const words = this.parser.parseInline(inner);
        return depth === 1 ? `<h1>${words}</h1>` : `<h${depth} id="${anchorOf(text)}">${words}</h${depth}>`;
      },
      code({ text, lang }) {
        return html`<pre tabindex="0" class="${lang}"><code>${text}</code></pre>`.text;
      },
      table(token) {
        // In a table without a header the first cell names its row.
        const hasHead = token.header.some(({ text }) => text !== '');
        const cell = ({ tokens: inner }: Tokens.TableCell, kind: string): string => {
          const [tag] = kind.split(' ');
          return `<${kind}>${this.parser.parseInline(inner)}</${tag}>`;
        };
        const head = hasHead
          ? `<thead><tr>${token.header.map((one) => cell(one, 'th scope="col"')).join('')}</tr></thead>`
          : '';
        const rows = token.rows.map((row) => {
          const cells = row.map((one, i) => cell(one, i === 0 && !hasHead ? 'th scope="row"' : 'td'));
          return `<tr${idOf(row[0])}>${cells.join('')}</tr>`;
        });
        return `<div class="wide" tabindex="0"><table>${head}<tbody>${rows.join('')}</tbody></table></div>`;
      },
      link({ href, tokens: inner }) {
        const [, slug, anchor = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
        const to = slug ? address(visit, slug) + anchor : href;
        return html`<a href="${to}">${new Html(this.parser.parseInline(inner))}</a>`.text;
      },
      html({ text }) {
        return RULES_PLACE.test(text) ? rulesTables(visit).text : '';
      },
    },
  });
  return marked.parser([...tokens]);
}

const RULES = new Set(RULE_TABLES.flatMap(({ rules }) => rules.map(([code]) => code)));
const CODES_WITH_ROWS = new Set<string>(
  [...REFUSAL_CODES, ...REJECTION_CODES].filter((code) => !RULES.has(code)),
);

/** Returns the anchor of a row whose first cell is an error or rejection code, unless a table of rules has that anchor. */
const idOf = (cell: Tokens.TableCell | undefined): string => {
  const [token, ...more] = cell?.tokens ?? [];
  const text = token?.type === 'codespan' && more.length === 0 ? (token as Tokens.Codespan).text : '';
  return CODES_WITH_ROWS.has(text) ? ` id="${text}"` : '';
};

const checksOf = (language: GuideLanguage, code: string, checks: string): string =>
  language === 'es' ? (RULES_IN_SPANISH[code] ?? checks) : checks;

const exampleOf = (language: GuideLanguage, example: string): string =>
  language === 'es' ? (messageInSpanish(example) ?? example) : example;

function rulesTables(visit: GuideVisit): Html {
  const words = SITE_WORDS[visit.language];
  const heads = ['code', words.rule, words.example].map((head) => html`<th scope="col">${head}</th>`);
  const tables = RULE_TABLES.map(({ title, rules }) => {
    const rows = rules.map(([code, { checks, example }]) => {
      const rule = checksOf(visit.language, code, checks);
      return html`<tr id="${code}">
        <td><code>${code}</code></td>
        <td>${rule}</td>
        <td lang="${visit.language}">${exampleOf(visit.language, example)}</td>
      </tr>`;
    });
    const table = html`<table>
      <thead>
        <tr>
          ${heads}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
    return html`<h3>${words.rules[title]}</h3>
      <div class="wide" tabindex="0">${table}</div>`;
  });
  return html`<div id="rules">${tables}</div>`;
}

/** Returns each code of an error, rejection or rule as its own part, so that a search finds its row. */
function codeSections(language: GuideLanguage): GuideSection[] {
  const guide = guideOf(language, 'refused');
  const tables = guide.tokens.filter((token): token is Tokens.Table => token.type === 'table');
  const rows = tables.flatMap((table) => table.rows).filter(([cell]) => idOf(cell) !== '');
  const rules = RULE_TABLES.flatMap((table) => table.rules);
  return [
    ...rows.map(([cell, ...others]) => ({
      code: cell?.text.replaceAll('`', '') ?? '',
      text: others.map((other) => other.tokens.map(plainText).join('')).join(' '),
    })),
    ...rules.map(([code, { checks, example }]) => ({
      code,
      text: `${checksOf(language, code, checks)} ${example}`,
    })),
  ].map(({ code, text }) => ({ slug: 'refused', title: guide.title, heading: code, anchor: code, text }));
}
