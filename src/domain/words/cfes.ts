/**
 * What the short names in a CFE's life mean, for people: statuses, reasons to be stuck, codes of rejections
 * (docs/authority/sobres.md). The only place of these words; the console has both languages, the command line the English ones.
 */
import { WORDS_EN } from './cfesEn.ts';
import { WORDS_ES } from './cfesEs.ts';
import type { CfeWords } from './shape.ts';

export const CFE_WORDS: Readonly<Record<'en' | 'es', CfeWords>> = { en: WORDS_EN, es: WORDS_ES };
