/** Elements that stand on one line with all that is in them. */
const IN_ONE_LINE = /(<Item>.*?<\/Item>)/;

/**
 * Canonical XML of a CFE laid out for reading: an element a line, indented, but a line of the receipt in one line. No
 * text in a CFE holds a line end, so that `asWritten` gives the same bytes back.
 */
export function readable(xml: string): string {
  let depth = 0;
  const lines: string[] = [];
  for (const part of xml.split(IN_ONE_LINE)) {
    const elements = part.startsWith('<Item>') ? [part] : part.split(/(?<=>)(?=<)/);
    for (const element of elements.filter((text) => text !== '')) {
      const closes = element.startsWith('</');
      if (closes) depth -= 1;
      lines.push(`${'  '.repeat(depth)}${element}`);
      if (!closes && !element.includes('</')) depth += 1;
    }
  }
  return `${lines.join('\n')}\n`;
}

/** The bytes behind a laid-out text. */
export function asWritten(laidOut: string): string {
  return laidOut.replace(/\n */g, '');
}
