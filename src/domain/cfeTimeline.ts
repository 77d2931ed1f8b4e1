/** What happened to a CFE, as a person reads it: one line for each thing, oldest first. */
import type { AttemptSummary } from './attempt.ts';
import type { Actor } from './audit.ts';
import { type CfeStatus, isFinal } from './cfeStatus.ts';
import type { RejectionReason } from './rejection.ts';
import type { StuckReason } from './stuckReason.ts';
import { SUPPORT_ACTIONS, SUPPORT_OUTCOMES } from './supportAction.ts';
import { answerMeans, type CfeWords } from './words/cfes.ts';

/** What of a CFE makes its timeline. */
export interface Lived {
  readonly createdAt: Date;
  /** Who asked for it, in words; null where that is not known, or not for its reader. */
  readonly by: string | null;
  readonly settledAt: Date | null;
  readonly status: CfeStatus;
  readonly rejection: readonly RejectionReason[] | null;
  readonly sobres: readonly {
    /** Null before it is written. */
    readonly idemisor: bigint | null;
    readonly createdAt: Date;
    readonly sendingAt: Date | null;
    readonly receivedAt: Date | null;
    readonly state: string;
  }[];
  readonly attempts: readonly AttemptSummary[];
  readonly stuck: readonly {
    readonly reason: StuckReason;
    readonly since: Date;
    readonly until: Date | null;
  }[];
  readonly acts: readonly {
    readonly at: Date;
    readonly actor: Actor;
    readonly address: string | null;
    readonly action: string;
    readonly reason: string | null;
    readonly outcome: string | null;
    readonly requestId: string | null;
  }[];
}

/** One thing that happened. */
export interface Happening {
  readonly at: Date;
  readonly what: string;
  /** What it means, who did it, the authority's own words. */
  readonly more: string | null;
  readonly kind: 'step' | 'call' | 'stuck' | 'act' | 'verdict';
  /** Of a call to the authority of which what was said is kept: of several that were answered alike, the last. */
  readonly attempt?: AttemptSummary;
}

/** The timeline in the words of a language. */
export function cfeTimeline(lived: Lived, words: CfeWords): Happening[] {
  const { timeline } = words;
  const step = (at: Date | null, what: string): Happening[] =>
    at === null ? [] : [{ at, what, more: null, kind: 'step' }];
  const all: Happening[] = [
    {
      at: lived.createdAt,
      what: timeline.numbered,
      more: lived.by === null ? null : timeline.by(lived.by),
      kind: 'step',
    },
    ...lived.sobres.flatMap(({ idemisor, createdAt, sendingAt, receivedAt, state }) =>
      idemisor === null
        ? []
        : [
            ...step(createdAt, timeline.sobreMade(String(idemisor))),
            ...step(
              sendingAt,
              (state === 'REFUSED' ? timeline.sobreRefused : timeline.sobreSent)(String(idemisor)),
            ),
            ...step(receivedAt, timeline.sobreReceived(String(idemisor))),
          ],
    ),
    ...lived.attempts.flatMap((attempt) => callsOf(attempt, words)),
    ...lived.stuck.flatMap(({ reason, since, until }): Happening[] => [
      {
        at: since,
        what: timeline.stuck(words.stuck[reason].label),
        more: words.stuck[reason].means,
        kind: 'stuck',
      },
      ...step(until, timeline.goesOn),
    ]),
    ...lived.acts.filter((act) => !hasEnded(act, lived.acts)).map((act) => actHappening(act, words)),
    ...(lived.settledAt && isFinal(lived.status)
      ? [
          {
            at: lived.settledAt,
            what: timeline.verdict(words.status[lived.status].label),
            more: lived.rejection?.map(reasonText).join('; ') ?? null,
            kind: 'verdict' as const,
          },
        ]
      : []),
  ];
  return all.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** Calls that were answered alike stand at the first and at the last of them; what was said is kept of the last. */
function callsOf(attempt: AttemptSummary, words: CfeWords): Happening[] {
  const { operation, answer, reasons, detail, count, firstAt, firstMilliseconds, lastAt, lastMilliseconds } =
    attempt;
  const means = [answerMeans(answer, words), detail === answer ? null : detail, ...reasons.map(reasonText)];
  const call = (at: Date, milliseconds: number, times: string | null): Happening => ({
    at,
    what: `${words.operation[operation]} → ${answer}${times === null ? '' : ` (${times})`} · ${milliseconds} ms`,
    more: means.filter(Boolean).join(' · '),
    kind: 'call',
    attempt,
  });
  if (count === 1) return [call(firstAt, firstMilliseconds, null)];
  const { attempt: _ofTheLast, ...first } = call(firstAt, firstMilliseconds, words.timeline.first(count));
  return [first, call(lastAt, lastMilliseconds, words.timeline.last(count))];
}

/** A reason of the authority in its own words. */
const reasonText = ({ code, message, detail }: RejectionReason): string =>
  `${code} «${message}»${detail === null ? '' : ` (${detail})`}`;

type Act = Lived['acts'][number];

/** Whether an act was only asked for, and stands there once more with its outcome. */
const hasEnded = ({ requestId, outcome }: Act, acts: readonly Act[]): boolean =>
  requestId !== null &&
  outcome === null &&
  acts.some((other) => other.requestId === requestId && other.outcome !== null);

/** What was done, what came of it, who did it and from where; what has no words here stands as it is stored. */
function actHappening(
  { at, action, outcome, requestId, actor, address, reason }: Act,
  { action: acts, outcome: outcomes, timeline }: CfeWords,
): Happening {
  const act = SUPPORT_ACTIONS.find((known) => `cfe.${known}` === action);
  const end = SUPPORT_OUTCOMES.find((known) => known === outcome);
  const cameOfIt = end ? outcomes[end] : (outcome ?? (requestId === null ? null : timeline.asked));
  const who = actor === 'unverified' ? timeline.unverified : actor;
  const from = address === null ? null : timeline.from(address);
  return {
    at,
    what: [act ? acts[act].label : action, cameOfIt].filter(Boolean).join(': '),
    more: [[who, from].filter(Boolean).join(' '), reason].filter(Boolean).join(': '),
    kind: 'act',
  };
}
