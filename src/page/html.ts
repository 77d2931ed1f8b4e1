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

const PARTS = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Returns the literal parts of a template without the indentation of its lines. */
function partsOf(template: TemplateStringsArray): readonly string[] {
  const known = PARTS.get(template);
  if (known) return known;
  const parts = template.map((part) => part.replace(/\n\s+/g, '\n'));
  PARTS.set(template, parts);
  return parts;
}

/**
 * Returns HTML with all other values escaped; null, undefined and false become ''. Attributes need double quotes.
 * Lines lose their indentation, values do not: what a `<pre>` shows must be a value.
 */
export function html(template: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = partsOf(template);
  return new Html(parts.map((part, i) => part + (i < values.length ? textOf(values[i]) : '')).join(''));
}
