import type { Language } from './console.ts';
import { type ApplicationWords, applicationEn } from './en/application.ts';
import { applicationEs } from './es/application.ts';

export { FIELD_NAMES } from './en/application.ts';

/** Texts of the sheet for the Postulación, by language. */
export const APPLICATION_WORDS: Readonly<Record<Language, ApplicationWords>> = {
  en: applicationEn,
  es: applicationEs,
};
