/** HTML as tagged templates, for every page and e-mail. */

/** Text that is already HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Returns the Content-Security-Policy of a page that loads only its host's files, and embedded pictures. */
export const ownFilesPolicy = (formAction: 'none' | 'self'): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    `form-action '${formAction}'`,
    "frame-ancestors 'none'",
  ].join('; ');

type Value = string | number | Html | null | undefined | false | readonly Value[];

function textOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);
}

/** Returns HTML with all other values escaped; null, undefined and false become ''. Attributes need double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.map((part, i) => part + (i < values.length ? textOf(values[i]) : '')).join(''));
}
