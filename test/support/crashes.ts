import { FAILPOINTS, type Failpoint } from '../../src/failpoints.ts';

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
  /** The worker that is killed has lost the key, so that support is asked, and acts; the next one has it. */
  keyLost?: true;
  /** The worker that is killed cannot reach the authority; the next one can. */
  authorityAway?: true;
}

const PLAIN: Situation = { itemName: 'Café', ends: 'ACCEPTED', registered: true };
/** By the words that end the sentence "killed at …". */
export const SITUATIONS = {
  'on its ordinary way': PLAIN,
  'while the caller waits': { ...PLAIN, callerWaits: true },
  'after a lost answer': { ...PLAIN, itemName: 'SIM LOST' },
  'with a sobre that is refused': { itemName: 'SIM SOBRE S04', ends: 'REJECTED', registered: false },
  'with a note that waits': { ...PLAIN, itemName: 'SIM DELAY 3', withNote: true },
  'where no webhook hears of it': { ...PLAIN, unheard: true },
  'with a note that waits, where no webhook hears of it': {
    ...PLAIN,
    itemName: 'SIM DELAY 3',
    withNote: true,
    unheard: true,
  },
  'while support acts': { ...PLAIN, keyLost: true },
  'while the authority is away': { ...PLAIN, authorityAway: true },
} as const satisfies Record<string, Situation>;

type SituationName = keyof typeof SITUATIONS;

/** The points that are not passed on the ordinary way, or elsewhere too. */
const OTHERWISE: Partial<Record<Failpoint, readonly SituationName[]>> = {
  // Not on a CFE's way: test/long/changeAndEvent.test.ts kills there.
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
  'wait.decided': ['while the caller waits'],
  'wait.kept': ['while the caller waits'],
  'sign.stored': ['on its ordinary way', 'with a note that waits'],
  'submit.numbered': ['with a note that waits'],
  'submit.sendingStored': ['on its ordinary way', 'where no webhook hears of it'],
  'submit.receivedStored': ['on its ordinary way', 'where no webhook hears of it'],
  'verdict.storedAlone': ['where no webhook hears of it'],
  'submit.found': ['after a lost answer'],
  'submit.refusalStored': ['with a sobre that is refused'],
  'gate.failed': ['while the authority is away'],
  'gate.called': ['while the authority is away'],
  'gate.calledStored': ['while the authority is away'],
  'support.written': ['while support acts'],
  'support.stored': ['while support acts'],
  'verdict.written': ['with a note that waits'],
  'verdict.committed': [
    'with a note that waits, where no webhook hears of it',
    'with a sobre that is refused',
  ],
};

/** Killed before these were committed, a request has left nothing behind: its repeat is the first. */
export const NOTHING_STORED: readonly string[] = ['issue.begun', 'issue.judged'];

/** Every point in every program that passes it: where a process is killed, and in which situation. */
export const CASES = Object.entries(FAILPOINTS).flatMap(([name, programs]) => {
  const point = name as Failpoint;
  const situations = OTHERWISE[point] ?? (['on its ordinary way'] as const);
  return programs.flatMap((program) => situations.map((situation) => [program, point, situation] as const));
});
