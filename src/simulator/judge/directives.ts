import { isKnownCode } from './codes.ts';

/** What the name of a receipt's first line asks the simulator to do (decisions.md §10). */
export interface Directives {
  /** Refuse the receipt with this E code. */
  readonly reject: string | null;
  /** Observe the receipt with this C code. */
  readonly observe: string | null;
  /** Seconds until the verdict. */
  readonly delaySeconds: number | null;
  /** Store the sobre and drop the connection without an answer. */
  readonly lost: boolean;
  /** Say, once, that the receipts stand in this state, before the verdict is given. */
  readonly oddState: string | null;
  /** Refuse the sobre with this S code. */
  readonly sobre: string | null;
  /** How many SOAP faults to answer before the sobre is looked at. */
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
  sobre: null,
  faults: 0,
  downSeconds: 0,
};
const DEFAULT_OBSERVATION = 'C06';

/**
 * The directives in the name of a receipt's first line: `SIM` and one or more orders behind it, anywhere in the name.
 * Other text is left alone; a code that the authority does not have orders nothing.
 */
export function directivesIn(name: string | undefined): Directives {
  const orders = /(?:^|\s)SIM\s+(.+)$/.exec(name ?? '')?.[1]?.split(/\s+/) ?? [];
  let directives = NONE;
  for (let at = 0; at < orders.length; at += 1) {
    const order = orders[at] ?? '';
    const value = orders[at + 1] ?? '';
    if (order === 'SIM') continue;
    else if (order === 'LOST') directives = { ...directives, lost: true };
    else if (order === 'OBSERVE') {
      const isCode = /^C\d\d$/.test(value) && isKnownCode(value);
      directives = { ...directives, observe: isCode ? value : DEFAULT_OBSERVATION };
      at += isCode ? 1 : 0;
    } else if (order === 'REJECT' && /^E\d\d$/.test(value) && isKnownCode(value)) {
      directives = { ...directives, reject: value };
      at += 1;
    } else if (order === 'STATE' && /^[A-Z]{2}$/.test(value)) {
      directives = { ...directives, oddState: value };
      at += 1;
    } else if (order === 'SOBRE' && /^S\d\d$/.test(value) && isKnownCode(value)) {
      directives = { ...directives, sobre: value };
      at += 1;
    } else if (/^(DELAY|FAULT|DOWN)$/.test(order) && /^\d{1,6}$/.test(value)) {
      const amount = Number(value);
      if (order === 'DELAY') directives = { ...directives, delaySeconds: amount };
      if (order === 'FAULT') directives = { ...directives, faults: amount };
      if (order === 'DOWN') directives = { ...directives, downSeconds: amount };
      at += 1;
    } else return directives;
  }
  return directives;
}

/** What the receipts of one sobre ask for together: of each order for the sobre, the strongest. */
export const together = (all: readonly Directives[]): Directives => ({
  reject: null,
  observe: null,
  delaySeconds: all.reduce<number | null>(
    (most, { delaySeconds }) => (delaySeconds === null ? most : Math.max(most ?? 0, delaySeconds)),
    null,
  ),
  lost: all.some(({ lost }) => lost),
  oddState: all.find(({ oddState }) => oddState !== null)?.oddState ?? null,
  sobre: all.find(({ sobre }) => sobre !== null)?.sobre ?? null,
  faults: Math.max(0, ...all.map(({ faults }) => faults)),
  downSeconds: Math.max(0, ...all.map(({ downSeconds }) => downSeconds)),
});
