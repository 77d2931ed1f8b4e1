/** Pieces that pages share: forms, panels, tables, marks. */
import { type Html, html } from '../page/html.ts';
import type { Visit } from './page.ts';

type Part = Html | string | null | false;
/** One piece, or several in a row. */
type Content = Html | readonly Part[];

/** A form that is sent here; it carries the token of the browser's session. */
export function form(visit: Visit, action: string, content: Content, kind = ''): Html {
  return html`<form method="post" action="${action}" class="${kind}">${token(visit)}${content}</form>`;
}

const token = ({ formToken }: Visit): Html => hidden('form_token', formToken);

/** What a form sends that nobody fills in. */
export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

/** A field of a form with its label. `type`, `name`, and what browsers are told of it. */
export function field(
  label: string,
  {
    name,
    type = 'text',
    value = '',
    autocomplete = 'off',
    required = true,
    ...more
  }: {
    name: string;
    type?: 'text' | 'password' | 'email' | 'date' | 'month' | 'datetime-local' | 'search';
    value?: string | undefined;
    autocomplete?: string;
    required?: boolean;
    maxlength?: number;
    inputmode?: 'numeric' | 'text';
    autofocus?: boolean;
    placeholder?: string;
    /** Of a `datalist` with what may be meant. */
    list?: string;
  },
): Html {
  const told = [
    html` autocomplete="${autocomplete}"`,
    html` maxlength="${more.maxlength ?? 200}"`,
    html` inputmode="${more.inputmode ?? 'text'}"`,
    required && html` required`,
    more.autofocus && html` autofocus`,
    more.placeholder && html` placeholder="${more.placeholder}"`,
    more.list && html` list="${more.list}"`,
  ];
  return html`<label class="field"><span>${label}</span><input name="${name}" type="${type}" value="${value}"${told}></label>`;
}

/** A form that carries files, without script. */
export function fileForm(visit: Visit, action: string, content: Content): Html {
  return html`<form method="post" action="${action}" enctype="multipart/form-data">${token(visit)}${content}</form>`;
}

/** Where a file is chosen; `accept`: what browsers offer first. */
export const fileField = (label: string, { name, accept }: { name: string; accept: string }): Html =>
  html`<label class="field"><span>${label}</span><input type="file" name="${name}" accept="${accept}" required></label>`;

/** A choice with its label; nothing is chosen where `value` is none of them. */
export const choice = (
  label: string,
  {
    name,
    value = '',
    options,
  }: { name: string; value?: string; options: readonly (readonly [string, string])[] },
): Html =>
  html`<label class="field"><span>${label}</span><select name="${name}">${options.map(
    ([one, words]) => html`<option value="${one}"${one === value && html` selected`}>${words}</option>`,
  )}</select></label>`;

/** What there is to choose from: each of `values` with what it is called in `words`. */
export const optionsOf = <T extends string>(
  values: readonly T[],
  words: Readonly<Record<T, string | { readonly label: string }>>,
): (readonly [T, string])[] =>
  values.map((one) => {
    const word = words[one];
    return [one, typeof word === 'string' ? word : word.label];
  });

export const button = (text: string, kind: 'main' | 'quiet' = 'main'): Html =>
  html`<button class="${kind}">${text}</button>`;

/** A part of a page under a heading; null where that of the page says it. */
export function panel(title: string | null, content: Part): Html {
  return html`<section class="panel">${title !== null && html`<header><h2>${title}</h2></header>`}${content}</section>`;
}

/** A table; its cells are text or pieces, those of `figures` (by place) are set right. Scrolls by itself where it is too wide. */
export function table(
  label: string,
  heads: readonly string[],
  rows: readonly (readonly Part[])[],
  figures: readonly number[] = [],
): Html {
  const kind = (place: number): string => (figures.includes(place) ? 'figure' : '');
  return html`<div class="wide" role="region" aria-label="${label}" tabindex="0"><table><thead><tr>${heads.map(
    (head, i) => html`<th scope="col" class="${kind(i)}">${head}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (cells) => html`<tr>${cells.map((cell, i) => html`<td class="${kind(i)}">${cell}</td>`)}</tr>`,
  )}</tbody></table></div>`;
}

/** A word with a colour that means the same everywhere; the word says it all without. */
export const mark = (text: string, tone: 'good' | 'bad' | 'wait' | 'calm'): Html =>
  html`<span class="mark ${tone}">${text}</span>`;

/** Tells a browser's store of passwords whose password a form sets; never seen, never sent. */
export const whose = (email: string): Html =>
  html`<input type="text" value="${email}" autocomplete="username" readonly hidden>`;

export const nothing = (text: string): Html => html`<p class="nothing">${text}</p>`;

/** A text that breaks between words only, and not at the hyphen of `e-Ticket`. */
export const wholeWords = (text: string): Html =>
  html`${text.split(' ').map((word, i) => html`${i > 0 && ' '}<span class="nowrap">${word}</span>`)}`;
