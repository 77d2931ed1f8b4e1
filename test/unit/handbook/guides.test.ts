import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, jest, test } from '@jest/globals';
import { Lexer, type Token } from 'marked';
import { referenceParts } from '../../../src/api/openapi/referenceParts.ts';
import {
  FAILED_A_DAY,
  FREE_FAILURES,
  UNPROVEN_A_DAY,
} from '../../../src/domain/enterprises/credentialsPause.ts';
import {
  MAILS_BY_HAND_A_DAY,
  MAILS_TO_ONE_MAILBOX,
  mailLimitsOfAccount,
} from '../../../src/domain/mail/mail.ts';
import { USUAL_CAPS } from '../../../src/domain/people/caps.ts';
import { RATE_LIMITS } from '../../../src/domain/people/rateLimits.ts';
import { RULE_TABLES } from '../../../src/domain/requests/ruleTables.ts';
import { REFUSAL_CODES } from '../../../src/errors.ts';
import { anchorOf, CODE_VARIANTS, GUIDE_LANGUAGES, guideOf, SLUGS } from '../../../src/handbook/guides.ts';
import {
  createSearch,
  type GuideVisit,
  guidePage,
  indexPage,
  type ReferencePart,
} from '../../../src/handbook/site.ts';
import { REJECTION_CODES } from '../../../src/words/cfeStates.ts';
import { RULES_IN_SPANISH } from '../../../src/words/es/rules.ts';
import { flatHtml } from '../../support/flatHtml.ts';
import { DOCUMENT } from '../../support/openapi/conformance.ts';

const HERE = { base: '/v1/docs', language: 'es', code: 'sh' } as const satisfies GuideVisit;
const visits = GUIDE_LANGUAGES.flatMap((language) =>
  CODE_VARIANTS.map((code) => ({ ...HERE, language, code })),
);

describe('the guides', () => {
  test.each(SLUGS)('%s has the same parts in every language', (slug) => {
    const [first, ...others] = GUIDE_LANGUAGES.map((language) =>
      guideOf(language, slug)
        .tokens.filter(({ type }) => type !== 'space')
        .map(({ type }) => type),
    );
    for (const other of others) expect(other).toEqual(first);
  });

  test.each(SLUGS)('%s has the blocks of docs/guides/code in every language, and no others', (slug) => {
    const file = resolve(import.meta.dirname, `../../../docs/guides/code/${slug}.md`);
    const codeOf = (tokens: readonly Token[]) =>
      tokens.filter(({ type }) => type === 'code').map(({ raw }) => raw.trim());
    const stored = codeOf(new Lexer().lex(readFileSync(file, 'utf8')));
    for (const language of GUIDE_LANGUAGES) expect(codeOf(guideOf(language, slug).tokens)).toEqual(stored);
  });

  test.each(visits)('every link leads to a page and a place on it: $language, $code', (visit) => {
    const pages = new Map(SLUGS.map((slug) => [slug as string, guidePage(visit, slug)]));
    for (const [slug, page] of [...pages, ['', indexPage(visit)] as const]) {
      for (const [, target = ''] of page.matchAll(/href="([^"]+)"/g)) {
        if (
          /^(#content|\/v1\/docs\/(reference|handbook\.css|favicon-32x32\.png)|\/v1\/openapi\.json)$/.test(
            target,
          )
        )
          continue;
        if (target.startsWith('https://')) continue;
        const [, language, to = '', code, , anchor] =
          /^\/v1\/docs\/(es|en)(?:\/([a-z-]+))?\?code=(sh|ts|py)(#(.+))?$/.exec(target) ?? [];
        expect([slug, target, language]).toEqual([slug, target, expect.anything()]);
        expect(CODE_VARIANTS).toContain(code);
        if (to !== '') expect([slug, target, pages.has(to)]).toEqual([slug, target, true]);
        if (anchor)
          expect([slug, target, pages.get(to)?.includes(`id="${anchor}"`)]).toEqual([slug, target, true]);
      }
    }
  });

  test('a page shows its steps in the one way of writing that was chosen', () => {
    const page = guidePage({ ...HERE, code: 'py' }, 'first-receipt');
    expect(page).toContain('class="py"');
    expect(page).not.toMatch(/class="(sh|ts)"/);
    expect(page).toContain('class="output"');
  });

  test('every code of an error and every rule has a row of its own, in every language', () => {
    for (const language of GUIDE_LANGUAGES) {
      const page = guidePage({ ...HERE, language }, 'refused');
      const codes = [...REFUSAL_CODES, ...RULE_TABLES.flatMap(({ rules }) => rules.map(([code]) => code))];
      const lacking = codes.filter((code) => page.split(`<tr id="${code}">`).length !== 2);
      expect([language, lacking]).toEqual([language, []]);
    }
  });

  test('every code of a rejection has a row of its own, in every language', () => {
    for (const language of GUIDE_LANGUAGES) {
      const page = guidePage({ ...HERE, language }, 'refused');
      const lacking = REJECTION_CODES.filter((code) => page.split(`<tr id="${code}">`).length !== 2);
      expect([language, lacking]).toEqual([language, []]);
    }
  });

  test('the title of the site stands once', () => {
    expect(indexPage(HERE)).toContain('<title>API de CFE</title>');
    expect(guidePage(HERE, 'limits')).toMatch(/<title>Límites.* · API de CFE<\/title>/);
  });

  test('no block needs a program that not every system has', () => {
    for (const [language, slug] of GUIDE_LANGUAGES.flatMap((one) =>
      SLUGS.map((other) => [one, other] as const),
    )) {
      const blocks = guideOf(language, slug).tokens.filter(({ type }) => type === 'code');
      expect([slug, blocks.filter(({ raw }) => /%N|uuidgen/.test(raw))]).toEqual([slug, []]);
    }
  });

  test.each([
    ['en', 'en-US'],
    ['es', 'es-UY'],
  ] as const)('the limits are those that hold: %s', (language, locale) => {
    const page = guideOf(language, 'limits')
      .tokens.map(({ raw }) => raw)
      .join('');
    const told = [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].map(([, what = '', how = '']) => [
      what,
      how,
    ]);
    const held = (word: RegExp) => told.filter(([what = '']) => word.test(what)).map(([, how]) => how);
    const figure = (value: number) => new RegExp(`^${value.toLocaleString(locale)}\\b`);
    const { webhooks, apiKeys, customers, unprovenEnterprises } = USUAL_CAPS;
    for (const [word, value] of [
      [/^webhooks/, webhooks],
      [/^keys|^claves/, apiKeys],
      [/^customers|^clientes/, customers],
      [/^e-mails on request$|^correos solicitados$/, MAILS_BY_HAND_A_DAY],
      [
        /^e-mails on request of|^correos solicitados de/,
        mailLimitsOfAccount(RATE_LIMITS.production.most).byHand,
      ],
      [/^all e-mails|^todos los correos/, mailLimitsOfAccount(RATE_LIMITS.production.most).all],
      [/^e-mails to|^correos a un/, MAILS_TO_ONE_MAILBOX],
      [/^checks|^verificaciones del/, UNPROVEN_A_DAY],
      [/^logins that fail|^verificaciones fallidas/, FAILED_A_DAY],
      [/^companies|^empresas/, unprovenEnterprises],
    ] as const)
      expect([word, held(word)]).toEqual([word, [expect.stringMatching(figure(value))]]);
    const { toOneMailbox } = mailLimitsOfAccount(RATE_LIMITS.production.most);
    expect(held(/^all e-mails|^todos los correos/)[0]).toMatch(new RegExp(` ${toOneMailbox} `));
    expect(held(/^checks|^verificaciones del/)[0]).toMatch(
      new RegExp(`(after|después de) ${FREE_FAILURES} (failures|fallas)`),
    );
  });

  test('every rule is told in Spanish, and no other', () => {
    const codes = RULE_TABLES.flatMap(({ rules }) => rules.map(([code]) => code));
    expect(Object.keys(RULES_IN_SPANISH).toSorted()).toEqual(codes.toSorted());
  });
});

describe('the search', () => {
  const searchPage = (visit: GuideVisit, query: string, reference: readonly ReferencePart[]): string =>
    flatHtml(createSearch(reference)(visit, query));
  const found = (query: string): string[] =>
    [
      ...(searchPage(HERE, query, []).split('<ol class="found">')[1] ?? '').matchAll(
        /<li><a href="\/v1\/docs\/es\/([^?]+)\?code=sh(#[^"]*)?"/g,
      ),
    ].map(([, slug = '', anchor = '']) => slug + anchor);

  test('finds words without their accents, in headings first', () => {
    expect(found('limites')[0]).toBe('limits');
    expect(found('exportación')[0]).toBe('exports');
    expect(found('EXPORTACION')).toEqual(found('exportación'));
  });

  test.each([
    ['consumidor final', 'refused'],
    ['ticket anonimo', 'refused'],
    ['exportar zip', 'printing'],
    ['addenda', 'printing'],
  ])('finds %s by the words that people use', (query, slug) => {
    expect(found(query)[0]?.split('#')[0]).toBe(slug);
  });

  test('leads from a code to its row', () => {
    for (const code of ['totals.pay_amount', 'RATE_LIMITED', 'E12'])
      expect(found(code)[0]).toBe(`refused#${code}`);
  });

  test('shows the words around what was asked for', () => {
    const [, shown = ''] = /<p>(.*?)<\/p><\/li>/.exec(searchPage(HERE, 'exclaves', [])) ?? [];
    expect(shown).toContain('exclaves');
  });

  test('finds every operation, field, parameter and event of the reference by its name', () => {
    const parts = referenceParts(DOCUMENT);
    const { paths, webhooks, components } = DOCUMENT;
    const schemas = Object.values(components['schemas'] ?? {}) as { properties?: object }[];
    const operations = Object.values(paths).flatMap((item) => Object.values(item)) as {
      operationId: string;
      parameters?: { name: string }[];
    }[];
    const names = new Set([
      ...operations.flatMap(({ operationId, parameters = [] }) => [
        operationId,
        ...parameters.map(({ name }) => name),
      ]),
      ...schemas.flatMap(({ properties = {} }) => Object.keys(properties)),
      ...Object.keys(webhooks),
    ]);
    expect(names.size).toBeGreaterThan(200);
    const lacking = [...names].filter((name) => !parts.some((part) => part.name.split(' ').includes(name)));
    expect(lacking).toEqual([]);
    const page = searchPage(HERE, 'payment_method', parts);
    expect(searchPage(HERE, 'branch', parts).match(/Referencia: branch</g)).toHaveLength(1);
    expect(page).toMatch(/<a href="\/v1\/docs\/reference">Referencia: payment_method<\/a><p lang="en">/);
    expect(searchPage(HERE, 'issueCfe', parts)).toContain('/v1/docs/reference#/CFEs/issueCfe"');
    expect(searchPage(HERE, 'zzzz', parts)).toContain('/v1/docs/reference');
  });

  test('puts the parts of guides before those of the reference that only mention a word', () => {
    const [first] =
      /<ol class="found"><li><a href="([^"?]+)/
        .exec(searchPage(HERE, 'webhooks', referenceParts(DOCUMENT)))
        ?.slice(1) ?? [];
    expect(first).toBe('/v1/docs/es/webhooks');
  });

  test('finds prose, not code', () => {
    expect(found('curl jq')).toContain('first-receipt');
    for (const word of ['isinstance', 'createServer', 'halt']) expect(found(word)).toEqual([]);
  });

  test('finds a guide by what people call its matter, and no word within another', () => {
    expect(found('devolucion')[0]).toBe('notes');
    expect(found('tarjeta')).toContain('first-receipt');
    const parts = referenceParts(DOCUMENT);
    expect(searchPage({ ...HERE, language: 'en' }, 'refund', parts)).toContain('/v1/docs/en/notes?');
    expect(searchPage(HERE, 'equired', parts)).not.toContain('class="found"');
  });

  test('every word must be there', () => {
    expect(found('sobre exclaves zzz')).toEqual([]);
    expect(found('incoterm exclaves aduaneros')).toEqual(['exports']);
    expect(found('')).toEqual([]);
  });

  test('a word that is there twice counts once, and no more than eight count', () => {
    expect(found(`${'limites '.repeat(20)}exclaves zzz`)).toEqual(found('limites exclaves zzz'));
    expect(found('la el de en que un una los zzz')).toEqual(found('la el de en que un una los'));
    expect(found('la el de en que un una los')).not.toEqual([]);
  });

  test('what it looks through is made ready once', () => {
    const search = createSearch(referenceParts(DOCUMENT));
    search(HERE, 'a');
    const folding = jest.spyOn(String.prototype, 'normalize');

    search({ ...HERE, code: 'py' }, 'receipt');

    const folds = folding.mock.calls.length;
    folding.mockRestore();
    expect(folds).toBe(1);
  });

  test('what was asked stands as text', () => {
    expect(searchPage(HERE, '"><script>alert(1)</script>', [])).not.toContain('<script');
  });
});

test('an anchor has neither accents nor signs', () => {
  expect(anchorOf('Qué espera una nota?')).toBe('que-espera-una-nota');
});
