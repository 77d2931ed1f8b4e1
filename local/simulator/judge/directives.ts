import {
  isObservationCode,
  isReceiptCode,
  isSobreCode,
  type ObservationCode,
  type ReceiptCode,
  type SobreCode,
} from './codes.ts';

/** What the name of a receipt's first line asks the simulator to do (docs/local.md#directives). */
export interface Directives {
  /** Refuse the receipt with this E code. */
  readonly reject: ReceiptCode | null;
  /** Observe the receipt with this C code. */
  readonly observe: ObservationCode | null;
  /** Seconds until the verdict. */
  readonly delaySeconds: number | null;
  /** Store the sobre and drop the connection without an answer. */
  readonly lost: boolean;
  /** Report this state of the receipt, once, before its verdict is given. */
  readonly oddState: string | null;
  /** Seconds until this receipt's verdict; answers before that are about the others of the sobre alone. */
  readonly lateSeconds: number | null;
  /** Keep no record of the receipt, and never answer for it, until it comes once more. */
  readonly unknown: boolean;
  /** Refuse the sobre with this S code. */
  readonly sobre: SobreCode | null;
  /** How many SOAP faults to answer before the sobre is judged. */
  readonly faults: number;
  /** Seconds for which the SOAP paths refuse once the sobre is stored. */
  readonly downSeconds: number;
}

const NONE: Directives = {
  reject: null,
  observe: null,
  delaySeconds: null,
  lost: false,
  oddState: null,
  lateSeconds: null,
  unknown: false,
  sobre: null,
  faults: 0,
  downSeconds: 0,
};

type Wish = Partial<Directives>;
const amount = (word: string, wish: (amount: number) => Wish): Wish | false =>
  /^\d{1,6}$/.test(word) && wish(Number(word));

/** What each order means with the word after it (false: that word does not belong to it), and what it means alone. */
const ORDERS: Readonly<
  Record<string, { readonly by?: (word: string) => Wish | false; readonly bare?: Wish }>
> = {
  REJECT: { by: (word) => isReceiptCode(word) && { reject: word } },
  OBSERVE: { by: (word) => isObservationCode(word) && { observe: word }, bare: { observe: 'C06' } },
  DELAY: { by: (word) => amount(word, (delaySeconds) => ({ delaySeconds })) },
  STATE: { by: (word) => /^[A-Z]{2}$/.test(word) && { oddState: word } },
  LATE: { by: (word) => amount(word, (lateSeconds) => ({ lateSeconds })) },
  UNKNOWN: { bare: { unknown: true } },
  SOBRE: { by: (word) => isSobreCode(word) && { sobre: word } },
  LOST: { bare: { lost: true } },
  FAULT: { by: (word) => amount(word, (faults) => ({ faults })) },
  DOWN: { by: (word) => amount(word, (downSeconds) => ({ downSeconds })) },
  SIM: { bare: {} },
};

/**
 * The directives in the name of a receipt's first line: `SIM` followed by one or more orders, anywhere in the name.
 * Reading stops at the first word that is no order; a code that the authority does not have orders nothing.
 */
export function directivesIn(name: string | undefined): Directives {
  const words = /(?:^|\s)SIM\s+(.+)$/.exec(name ?? '')?.[1]?.split(/\s+/) ?? [];
  let directives = NONE;
  for (let at = 0; at < words.length; at += 1) {
    const order = ORDERS[words[at] ?? ''];
    const wish = order?.by?.(words[at + 1] ?? '');
    if (!wish && !order?.bare) break;
    directives = { ...directives, ...(wish || order?.bare) };
    if (wish) at += 1;
  }
  return directives;
}

/** What the receipts of one sobre order together: for each order that concerns the whole sobre, the strongest wins. */
export const together = (all: readonly Directives[]): Directives => ({
  reject: null,
  observe: null,
  delaySeconds: all.reduce<number | null>(
    (most, { delaySeconds }) => (delaySeconds === null ? most : Math.max(most ?? 0, delaySeconds)),
    null,
  ),
  lost: all.some(({ lost }) => lost),
  oddState: null,
  lateSeconds: null,
  unknown: false,
  sobre: all.find(({ sobre }) => sobre !== null)?.sobre ?? null,
  faults: Math.max(0, ...all.map(({ faults }) => faults)),
  downSeconds: Math.max(0, ...all.map(({ downSeconds }) => downSeconds)),
});
