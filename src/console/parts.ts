/** HTML that pages share. */
import { type Html, html } from '../page/html.ts';
import type { Visit } from './page.ts';

type Part = Html | string | null | false;
type Content = Html | readonly Part[];

/** Renders a form with its CSRF token. */
export function renderForm(
  visit: Visit,
  action: string,
  content: Content,
  kind = '',
  { id, hasFile }: { id?: string; hasFile?: boolean } = {},
): Html {
  const attributes = html`${id && html`id="${id}"`} ${hasFile && html`enctype="multipart/form-data"`}`;
  return html`<form method="post" action="${action}" class="${kind}" ${attributes}>
    ${hidden('form_token', visit.formToken)}${content}
  </form>`;
}

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

/** Returns the options of a choice: each of `values` with its label in `words`. */
export const optionsOf = <T extends string>(
  values: readonly T[],
  words: Readonly<Record<T, string | { readonly label: string }>>,
): (readonly [T, string])[] =>
  values.map((value) => {
    const word = words[value];
    return [value, typeof word === 'string' ? word : word.label];
  });

/** Renders a button; `label` says to screen readers what it does, if the text does not. */
export const button = (text: string, kind: 'main' | 'quiet' = 'main', label?: string): Html =>
  html`<button class="${kind}" ${label !== undefined && html`aria-label="${label}"`}>${text}</button>`;

/** Renders a section of a page, with or without a heading. */
export function panel(title: string | null, content: Part): Html {
  return html`<section class="panel">
    ${title !== null && html`<header><h2>${title}</h2></header>`}${content}
  </section>`;
}

/** Renders a table that scrolls if too wide. `figures`: indexes of the columns to align right. */
export function table(
  label: string,
  heads: readonly string[],
  rows: readonly (readonly Part[])[],
  figures: readonly number[] = [],
): Html {
  const kind = (column: number): string => (figures.includes(column) ? 'figure' : '');
  return html`<div class="wide" role="region" aria-label="${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head, i) => html`<th scope="col" class="${kind(i)}">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell, i) => html`<td class="${kind(i)}">${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Renders a list of names and values. */
export const factList = (rows: readonly (readonly [string, Part])[]): Html =>
  html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;

/** Renders a word on a colour. The word must be clear without the colour. */
export const badge = (text: string, tone: 'good' | 'bad' | 'wait' | 'calm'): Html =>
  html`<span class="mark ${tone}">${text}</span>`;

/** Renders an invisible field, not sent, from which password managers read the user's name. */
export const usernameField = (email: string): Html =>
  html`<input type="text" value="${email}" autocomplete="username" readonly hidden />`;

/** Renders a text in place of an empty list. */
export const renderEmpty = (text: string): Html => html`<p class="nothing">${text}</p>`;

/** Renders a text that wraps only at spaces, not at the hyphen of `e-Ticket`. */
export const wholeWords = (text: string): Html =>
  html`${text.split(' ').map((word, i) => html`${i > 0 && ' '}<span class="nowrap">${word}</span>`)}`;
