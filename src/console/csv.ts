/** Comma-separated values (RFC 4180), for spreadsheets too. */
import { momentText } from './format.ts';

/** A moment stands in Montevideo's time, as on the pages. */
export type CsvValue = string | number | boolean | Date | null | undefined;

/** One line with its end. */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(field).join(',')}\r\n`;

function field(value: CsvValue): string {
  if (value === null || value === undefined) return '';
  const text = value instanceof Date ? momentText(value) : harmless(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet would take for a formula gets an apostrophe before it; a plain number is none. */
const harmless = (text: string): string =>
  /^[=+\-@\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
