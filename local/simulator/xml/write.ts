const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#xD;',
};

/** An element around written XML. */
export const tag = (name: string, ...inner: readonly string[]): string =>
  `<${name}>${inner.join('')}</${name}>`;

/** An element around text. */
export const leaf = (name: string, value: string | number): string =>
  tag(
    name,
    String(value).replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? ''),
  );

/** An element around text; '' when there is no value. */
export const maybe = (name: string, value: string | number | null | undefined): string =>
  value === null || value === undefined || value === '' ? '' : leaf(name, value);

/** Text as a CDATA section, as the authority sends its payloads; `]]>` is split between two sections. */
export const cdata = (text: string): string => `<![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
