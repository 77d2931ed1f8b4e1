import type { FinalStatus } from '../../../src/domain/receipts/cfeStatus.ts';
import { CFE_TYPE_NAMES, CFE_TYPES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import type { Chance } from './chance.ts';

/** A CFE that is going to be issued, and how it must end. */
export interface PlannedCfe {
  /** Its place in the plan. */
  index: number;
  rut: string;
  type: CfeType;
  net: number;
  /** The first line's name: an order to the simulator, or goods. */
  itemName: string;
  /** The place of the CFE that a note corrects. */
  original: number | null;
  ends: FinalStatus;
  /** Whether the authority has it in the end. */
  registered: boolean;
}

interface Order {
  /** How many of a hundred. */
  share: number;
  itemName: (chance: Chance) => string;
  ends: FinalStatus;
  registered: boolean;
}

const ACCEPTED = { ends: 'ACCEPTED', registered: true } as const;
const seconds = (name: string, most: number) => (chance: Chance) => `SIM ${name} ${1 + chance.below(most)}`;

/** What the authority is told to do; the rest is plain. That answers are lost is chance of another kind (lossyAuthority.ts). */
const ORDERS: readonly Order[] = [
  { share: 8, itemName: () => 'SIM REJECT E05', ends: 'REJECTED', registered: true },
  { share: 4, itemName: () => 'SIM OBSERVE C06', ends: 'OBSERVED', registered: true },
  { share: 3, itemName: () => 'SIM SOBRE S04', ends: 'REJECTED', registered: false },
  { share: 4, itemName: () => 'SIM LOST', ...ACCEPTED },
  { share: 10, itemName: seconds('DELAY', 5), ...ACCEPTED },
  { share: 8, itemName: seconds('FAULT', 2), ...ACCEPTED },
  { share: 1, itemName: seconds('DOWN', 3), ...ACCEPTED },
];
const PLAIN: Order = { share: 0, itemName: () => 'Yerba mate 1 kg', ...ACCEPTED };

const NET = 100;
/** What a note takes: an original has one note at most, and it fits. */
const NET_OF_NOTE = 40;
/** A note corrects one of the last so many, so that it often comes before the verdict on it. */
const RECENT = 6;

/** The CFEs of a run: all nine types of all enterprises mixed, notes on what was issued shortly before. */
export function planCfes(count: number, ruts: readonly string[], chance: Chance): PlannedCfe[] {
  const plan: PlannedCfe[] = [];
  for (let index = 0; index < count; index += 1) {
    const rut = chance.oneOf(ruts);
    const wished = chance.oneOf(CFE_TYPE_NAMES);
    const original = CFE_TYPES[wished].note ? originalFor(wished, rut, plan) : undefined;
    const order = orderFor(chance.below(100));
    const rejectedWithIt = original?.ends === 'REJECTED';
    plan.push({
      index,
      rut,
      type: original ? wished : baseOf(wished),
      net: original ? NET_OF_NOTE : NET,
      itemName: order.itemName(chance),
      original: original?.index ?? null,
      ends: rejectedWithIt ? 'REJECTED' : order.ends,
      registered: !rejectedWithIt && order.registered,
    });
  }
  return plan;
}

/** The latest CFE of the enterprise that the note may correct, if one was issued shortly before. */
function originalFor(note: CfeType, rut: string, plan: readonly PlannedCfe[]): PlannedCfe | undefined {
  const base = baseOf(note);
  return plan
    .filter((one) => one.rut === rut)
    .slice(-RECENT)
    .findLast(({ type, index }) => type === base && plan.every(({ original }) => original !== index));
}

/** The type of the same family that is no note. */
function baseOf(type: CfeType): CfeType {
  const { family } = CFE_TYPES[type];
  const base = CFE_TYPE_NAMES.find((name) => CFE_TYPES[name].family === family && !CFE_TYPES[name].note);
  if (!base) throw new Error(`the family of ${type} has notes only`);
  return base;
}

function orderFor(drawn: number): Order {
  let below = 0;
  return ORDERS.find(({ share }) => drawn < (below += share)) ?? PLAIN;
}
