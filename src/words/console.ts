import { consoleEn, type Texts } from './en/console.ts';
import { consoleEs } from './es/console.ts';

export type { Texts } from './en/console.ts';

/** Languages of the console, the default first. */
export const LANGUAGES = ['es', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Texts of each language. */
export const TEXTS: Readonly<Record<Language, Texts>> = { es: consoleEs, en: consoleEn };

/** Returns the chosen language, else the browser's first supported one (RFC 9110 §12.5.4), else Spanish. */
export function languageOf(chosen: string | undefined, acceptLanguage: string | undefined): Language {
  const wishes = (acceptLanguage ?? '')
    .slice(0, 500)
    .split(',')
    .map((wish) => {
      const [tag = '', ...parameters] = wish.trim().split(';');
      const weight = parameters.map((one) => /^\s*q=([\d.]+)/.exec(one)?.[1]).find(Boolean);
      return { tag: tag.toLowerCase().split('-')[0], weight: weight === undefined ? 1 : Number(weight) };
    });
  const asked = wishes.toSorted((a, b) => b.weight - a.weight).map(({ tag }) => tag);
  return [chosen, ...asked].flatMap((tag) => LANGUAGES.find((known) => known === tag) ?? [])[0] ?? 'es';
}
