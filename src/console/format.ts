/** Formats times in Montevideo's zone, durations, and numbers in the notation of the page's language. */
import { dateText, decimalText, money } from '../domain/values/figures.ts';
import { montevideoTimestamp } from '../domain/values/montevideo.ts';
import { type Html, html } from '../page/html.ts';
import type { Texts } from '../words/console.ts';

/** Renders a timestamp, `22/11/2026 14:05:09`, with the exact one in its `datetime` attribute. */
export function timeOf(at: Date): Html {
  const local = montevideoTimestamp(at);
  return html`<time datetime="${at.toISOString()}">${dateText(local)} ${local.slice(11, 19)}</time>`;
}

/** Formats a timestamp to the minute, as text. */
export function minuteText(at: Date): string {
  const local = montevideoTimestamp(at);
  return `${dateText(local)} ${local.slice(11, 16)}`;
}

/** Renders a date, `22/11/2026`, with the ISO date in its `datetime` attribute. */
export const dateOf = (date: string): Html =>
  html`<time datetime="${date.slice(0, 10)}">${dateText(date)}</time>`;

/** Formats a timestamp for spreadsheets, `2026-11-22 14:05:09`. */
export const timestampText = (at: Date): string => montevideoTimestamp(at).slice(0, 19).replace('T', ' ');

const UNITS = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
] as const;

/** Formats a duration in the largest unit of at least two: `95 s`, `12 min`, `30 h`, `4 d`. */
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

/** Describes a User-Agent as `Firefox, Windows`; returns its first characters if browser and system are unknown. */
export function browserName(agent: string): string {
  const known = [BROWSERS, SYSTEMS].flatMap((table) => table.find(([, sign]) => sign.test(agent))?.[0] ?? []);
  return known.length > 0 ? known.join(', ') : agent.slice(0, 40);
}

/** Formats a whole number with thousands separators. */
export const figure = (n: number, { numerals }: Pick<Texts, 'numerals'>): string =>
  decimalText(String(n), undefined, numerals);

/** Formats an amount with currency and cents, `UYU 990,00`. */
export const amount = (currency: string, text: string, { numerals }: Pick<Texts, 'numerals'>): string =>
  `${currency} ${money(text, numerals)}`;
