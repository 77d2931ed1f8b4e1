import type { PrintedCfe } from './receiptPdfs.ts';

/** A receipt of 200 ordinary lines; what takes long has many lines, long texts, or both. */
const HEAVY_BYTES = 128 * 1024;
/** Processor time after which the next print of the same account is heavy too, unless it is small: some letters take longer than others. */
const SLOW_MILLISECONDS = 1_000;
const SMALL_BYTES = 32 * 1024;

/** Tells heavy prints before they are made, from their size and from how long the last one of the account took that was not small. */
export function createScales() {
  const slow = new Set<string>();
  const isSmall = ({ xmlBytes }: Weighed): boolean => xmlBytes <= SMALL_BYTES;
  return {
    isHeavy: (print: Weighed): boolean =>
      print.xmlBytes > HEAVY_BYTES || (!isSmall(print) && slow.has(print.accountId)),
    /** Remembers the processor time that a print took. */
    took: (print: Weighed, milliseconds: number): void => {
      if (milliseconds > SLOW_MILLISECONDS) slow.add(print.accountId);
      else if (!isSmall(print)) slow.delete(print.accountId);
    },
  };
}
type Weighed = Pick<PrintedCfe, 'accountId' | 'xmlBytes'>;
