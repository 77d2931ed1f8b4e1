import { encodeQR } from 'qr';

/** The largest symbol that fits a side of 30 mm with modules of 4 dots at 203 dpi. */
const MOST_MODULES = 57;

/**
 * Returns the QR code of a URL (ISO/IEC 18004, UTF-8) as rows of modules, true for dark, without a quiet
 * zone. Level M; L for the rare URL that would need too large a symbol.
 */
export function qrSymbol(url: string): boolean[][] {
  const symbol = (ecc: 'medium' | 'low'): boolean[][] =>
    encodeQR(url, 'raw', { ecc, border: 1, encoding: 'byte' })
      .slice(1, -1)
      .map((row) => row.slice(1, -1));
  const medium = symbol('medium');
  return medium.length <= MOST_MODULES ? medium : symbol('low');
}
