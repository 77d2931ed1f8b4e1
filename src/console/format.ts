/** How the console writes moments, ages and figures: in Montevideo's time, as Uruguay writes numbers. */
import { montevideoTimestamp } from '../domain/montevideo.ts';
import { type Html, html } from './html.ts';
import type { Texts } from './texts/index.ts';

/** A moment in Montevideo, `2026-11-22 14:05:09`, exact for machines. */
export function moment(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${momentText(at)}</time>`;
}

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

/** A whole number with points between thousands. */
export const figure = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, '.');
