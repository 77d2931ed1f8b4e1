/** Returns HTML as tests compare it: without the line breaks of its templates, and the space before the end of a tag. */
export const flatHtml = (page: string): string =>
  page
    .replaceAll(/<[^>]+>/g, (tag) => tag.replaceAll(/\s+/g, ' ').replace(/ ?\/?>$/, '>'))
    .replaceAll(/>\s*\n\s*|\s*\n\s*(?=<)/g, (gap) => (gap.startsWith('>') ? '>' : ''));
