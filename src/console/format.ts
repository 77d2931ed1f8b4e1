/** How the console writes moments, ages and figures: in Montevideo's time, numbers as the language of the page writes them. */
import { dateText, decimalText, money } from '../domain/figures.ts';
import { montevideoTimestamp } from '../domain/montevideo.ts';
import { type Html, html } from '../page/html.ts';
import type { Texts } from './texts/index.ts';

/** A moment in Montevideo, `22/11/2026 14:05:09`, exact for machines. */
export function moment(at: Date): Html {
  const local = montevideoTimestamp(at);
  return html`<time datetime="${at.toISOString()}">${dateText(local)} ${local.slice(11, 19)}</time>`;
}

/** The same to the minute, as text. */
export function minuteText(at: Date): string {
  const local = montevideoTimestamp(at);
  return `${dateText(local)} ${local.slice(11, 16)}`;
}

/** A day, `22/11/2026`, exact for machines. */
export const day = (date: string): Html =>
  html`<time datetime="${date.slice(0, 10)}">${dateText(date)}</time>`;

/** A moment for spreadsheets, `2026-11-22 14:05:09`: it sorts, and means the same in every country. */
export const momentText = (at: Date): string => montevideoTimestamp(at).slice(0, 19).replace('T', ' ');

const UNITS = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
] as const;

/** How long something takes or has lasted, in its two-digit unit: `95 s`, `12 min`, `30 h`, `4 d`. */
export function age(milliseconds: number, texts: Texts): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [unit, size] = UNITS.find(([, one]) => seconds >= 2 * one) ?? (['seconds', 1] as const);
  return texts.ages[unit](Math.floor(seconds / size));
}

const BROWSERS = [
  ['Edge', /\bEdg/],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|HeadlessChrome|CriOS)\//],
  ['Safari', /\bSafari\//],
] as const;
const SYSTEMS = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(iPhone|iPad)\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** What a person calls the browser of a User-Agent, `Firefox, Windows`; the beginning of it where that is unknown. */
export function browserName(agent: string): string {
  const known = [BROWSERS, SYSTEMS].flatMap((table) => table.find(([, sign]) => sign.test(agent))?.[0] ?? []);
  return known.length > 0 ? known.join(', ') : agent.slice(0, 40);
}

/** A whole number, its thousands apart. */
export const figure = (n: number, { numerals }: Pick<Texts, 'numerals'>): string =>
  decimalText(String(n), undefined, numerals);

/** An amount with its currency, to the cent: `990` is `UYU 990,00`. */
export const amount = (currency: string, text: string, { numerals }: Pick<Texts, 'numerals'>): string =>
  `${currency} ${money(text, numerals)}`;
