import { FAILPOINTS, type Failpoint } from '../../../src/failpoints.ts';

/** What is issued for the point to be passed, and how it must end. */
export interface Situation {
  /** The first line's name, with an order to the simulator. */
  itemName: string;
  ends: 'ACCEPTED' | 'REJECTED';
  /** Whether the authority registers it. */
  registered: boolean;
  /** A note on it is issued at once, and waits for its verdict. */
  withNote?: true;
  /** The caller waits for the verdict, so that a healthy worker has to be there. */
  callerWaits?: true;
  /** No webhook is there to hear of it. */
  unheard?: true;
  /** The worker that is killed has lost the key; the next one has it. */
  keyLost?: true;
  /** The first one waits for support, which retries it. */
  supported?: true;
  /** So many are issued while nothing can be sent, and share one sobre; all but the first are plain. */
  together?: number;
  /** Nothing can be sent as long as the worker lives that is killed, so that it finds them waiting. */
  unsent?: true;
  /** The next worker is killed at the point as well: on the ordinary way CFEs are moved twice, to RECEIVED and to the verdict. */
  twice?: true;
  /** The enterprise only reports its small e-Tickets, of which this is one. */
  reportOnly?: true;
  /** The worker that is killed cannot reach the authority; the next one can. */
  authorityAway?: true;
}

const PLAIN: Situation = { itemName: 'Café', ends: 'ACCEPTED', registered: true };
const TEN: Situation = { ...PLAIN, together: 10 };
const HUNDRED: Situation = { ...PLAIN, together: 100 };
/** By the words that end the sentence "killed at …". */
export const SITUATIONS = {
  'on its ordinary way': PLAIN,
  'while the caller waits': { ...PLAIN, callerWaits: true },
  'after a lost answer': { ...PLAIN, itemName: 'SIM LOST' },
  'with a sobre that is refused': { itemName: 'SIM SOBRE S04', ends: 'REJECTED', registered: false },
  'with a note that waits': { ...PLAIN, itemName: 'SIM DELAY 3', withNote: true },
  'where no webhook hears of it': { ...PLAIN, unheard: true },
  'the second time as well, with a note that waits': {
    ...PLAIN,
    itemName: 'SIM DELAY 3',
    withNote: true,
    twice: true,
  },
  'the second time as well, where no webhook hears of it': { ...PLAIN, unheard: true, twice: true },
  'with a hundred in a sobre': HUNDRED,
  'with a hundred in a sobre, the second time as well': { ...HUNDRED, twice: true },
  'with a hundred in a sobre, after a lost answer': { ...HUNDRED, itemName: 'SIM LOST' },
  'with ten in a sobre that is refused for one of them': {
    itemName: 'SIM SOBRE S04',
    ends: 'REJECTED',
    registered: false,
    together: 10,
  },
  'with ten in a sobre, of which none can be signed': { ...TEN, keyLost: true },
  'with ten that wait, of which none can be signed': { ...TEN, keyLost: true, unsent: true },
  'as an e-Ticket that is only reported': { ...PLAIN, registered: false, reportOnly: true },
  'while support acts': { ...PLAIN, keyLost: true, supported: true },
  'while support acts on one of ten in a sobre': { ...TEN, itemName: 'SIM STATE FE', supported: true },
  'while the authority is away': { ...PLAIN, authorityAway: true },
  'while the authority is away, with ten in a sobre': { ...TEN, authorityAway: true },
} as const satisfies Record<string, Situation>;

type SituationName = keyof typeof SITUATIONS;

const IN_ANY_SOBRE: readonly SituationName[] = ['on its ordinary way', 'with a hundred in a sobre'];
/** Sobres that the gate makes or calls: of CFEs that waited, notes among them, and of the prober. */
const BY_THE_GATE: readonly SituationName[] = [
  'while the authority is away',
  'with a note that waits',
  'with a hundred in a sobre',
];

const SUPPORTED: readonly SituationName[] = [
  'while support acts',
  'while support acts on one of ten in a sobre',
];

/** The points that are not passed on the ordinary way, or elsewhere too. */
const OTHERWISE: Partial<Record<Failpoint, readonly SituationName[]>> = {
  // Not on a CFE's way: test/long/failures/changeAndEvent.test.ts kills there.
  'request.written': [],
  'request.committed': [],
  // Of a day's report: test/integration/reports/crash.test.ts kills there.
  'report.read': [],
  'report.stored': [],
  'report.sendingStored': [],
  'report.answered': [],
  'report.answerStored': [],
  'report.found': [],
  'report.asked': [],
  // Of a test run: test/long/failures/testRun.test.ts kills there.
  'homologation.issued': [],
  'wait.decided': ['while the caller waits'],
  'wait.kept': ['while the caller waits'],
  'sobre.signed': IN_ANY_SOBRE,
  'sobre.stored': IN_ANY_SOBRE,
  'sobre.ended': [
    'with ten in a sobre, of which none can be signed',
    'with ten in a sobre that is refused for one of them',
  ],
  'sobre.dissolved': ['with ten in a sobre, of which none can be signed'],
  'apart.opened': ['with ten that wait, of which none can be signed'],
  'apart.stored': ['with ten that wait, of which none can be signed'],
  'reported.signed': ['as an e-Ticket that is only reported'],
  'reported.written': ['as an e-Ticket that is only reported'],
  'gate.entered': IN_ANY_SOBRE,
  'send.marked': IN_ANY_SOBRE,
  'send.answered': IN_ANY_SOBRE,
  'send.found': ['after a lost answer', 'with a hundred in a sobre, after a lost answer'],
  'ask.answered': IN_ANY_SOBRE,
  'moves.stored': [
    'on its ordinary way',
    'where no webhook hears of it',
    'as an e-Ticket that is only reported',
    'the second time as well, with a note that waits',
    'the second time as well, where no webhook hears of it',
    'with a sobre that is refused',
    'with a hundred in a sobre, the second time as well',
    'with ten in a sobre that is refused for one of them',
  ],
  'gate.failed': ['while the authority is away', 'while the authority is away, with ten in a sobre'],
  'gate.called': BY_THE_GATE,
  'gate.calledStored': BY_THE_GATE,
  'support.written': SUPPORTED,
  'support.stored': SUPPORTED,
};

/** Killed before these were committed, a request has left nothing behind: its repeat is the first. */
export const NOTHING_STORED: readonly string[] = ['issue.begun', 'issue.judged'];

/** How many shared a sobre that was received, of so many accepted ones that were issued together. */
export function sizesAfter(point: Failpoint, { registered }: Situation, accepted: number): number[] {
  // Refused as a whole, or set apart before the kill, they go each by itself: at the last point one was.
  if (!registered || point === 'sobre.dissolved') return Array.from({ length: accepted }, () => 1);
  return point === 'apart.stored' ? [1, accepted - 1] : [accepted];
}

/** Every point in every program that passes it: where a process is killed, and in which situation. */
export const CASES = Object.entries(FAILPOINTS).flatMap(([name, programs]) => {
  const point = name as Failpoint;
  const situations = OTHERWISE[point] ?? (['on its ordinary way'] as const);
  return programs.flatMap((program) => situations.map((situation) => [program, point, situation] as const));
});
