/** HTML as tagged templates: whatever stands in `${}` is text and is escaped, unless it is Html itself. Attributes stand in double quotes. */

/** A piece of a page that is HTML already; only `html` makes it. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Nothing is shown for null, undefined and false; of a list every element. */
type Value = Html | string | number | null | undefined | false | readonly Value[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A piece of a page. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(strings.reduce((text, part, i) => text + shown(values[i - 1]) + part));
}

function shown(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(shown).join('');
  return String(value).replace(/[&<>"']/g, (char) => ESCAPES[char] ?? '');
}

/** A path of ours with a query of what is set; never of another host, whatever the values hold. */
export function link(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set).toString()}`;
}

/** Where to go after something else, as a browser was told it: a path of ours, else `/`. */
export function ownPath(text: string | undefined): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return '/';
  const { origin, pathname, search } = new URL(text, 'http://console.invalid');
  // Without its dots a path may begin with two slashes, which would name a host.
  return origin === 'http://console.invalid' && !pathname.startsWith('//') ? pathname + search : '/';
}
