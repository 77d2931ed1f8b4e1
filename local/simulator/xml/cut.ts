/** Where an element is in a string: from its `<` to just after its last `>`. */
export interface Extent {
  readonly start: number;
  readonly end: number;
}

/**
 * The elements directly below the root of a well-formed document, as places in its text: signatures cover bytes, so
 * receipts are cut out of their sobre, never written anew (docs/authority/signatures.md#receipts).
 */
export function topLevelExtents(xml: string): Extent[] {
  const extents: Extent[] = [];
  let depth = 0;
  let start = 0;
  for (let open = xml.indexOf('<'); open !== -1; ) {
    const close = endOfMarkup(xml, open);
    const isTag = /[^!?]/.test(xml[open + 1] ?? '');
    if (isTag && xml[open + 1] === '/') {
      depth -= 1;
      if (depth === 1) extents.push({ start, end: close });
    } else if (isTag) {
      if (depth === 1) start = open;
      if (xml[close - 2] !== '/') depth += 1;
      else if (depth === 1) extents.push({ start, end: close });
    }
    open = xml.indexOf('<', close);
  }
  return extents;
}

/** The position just after the tag, comment, section or instruction that begins at `open`. */
function endOfMarkup(xml: string, open: number): number {
  if (xml.startsWith('<!--', open)) return behind(xml, '-->', open + 4);
  if (xml.startsWith('<![CDATA[', open)) return behind(xml, ']]>', open + 9);
  if (xml.startsWith('<?', open)) return behind(xml, '?>', open + 2);
  let quote = '';
  for (let at = open + 1; at < xml.length; at += 1) {
    const character = xml[at] ?? '';
    if (quote === '' && character === '>') return at + 1;
    if (quote === '' && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = '';
  }
  return xml.length;
}

function behind(xml: string, mark: string, from: number): number {
  const at = xml.indexOf(mark, from);
  return at === -1 ? xml.length : at + mark.length;
}
