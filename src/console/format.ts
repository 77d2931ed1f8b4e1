/** How the console writes moments, ages and figures: in Montevideo's time, as Uruguay writes numbers. */
import { decimalText, money } from '../domain/figures.ts';
import { montevideoTimestamp } from '../domain/montevideo.ts';
import { type Html, html } from '../page/html.ts';
import type { Texts } from './texts/index.ts';

/** A moment in Montevideo, `2026-11-22 14:05:09`, exact for machines. */
export function moment(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${momentText(at)}</time>`;
}

/** The same as plain text. */
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

/** A whole number with points between thousands. */
export const figure = (n: number): string => decimalText(String(n));

/** An amount with its currency, to the cent: `990` is `UYU 990,00`. */
export const amount = (currency: string, text: string): string => `${currency} ${money(text)}`;
