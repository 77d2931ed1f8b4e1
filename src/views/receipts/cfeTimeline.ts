/** The timeline of a CFE for people: one entry for each event, oldest first. */

import type { AttemptSummary } from '../../domain/authority/attempt.ts';
import type { StuckReason } from '../../domain/authority/stuckReason.ts';
import type { Actor } from '../../domain/operations/audit.ts';
import { SUPPORT_ACTIONS, SUPPORT_OUTCOMES } from '../../domain/operations/supportAction.ts';
import { type CfeStatus, isFinal } from '../../domain/receipts/cfeStatus.ts';
import type { RejectionReason } from '../../domain/receipts/rejection.ts';
import { answerMeans, type CfeWords } from '../../words/cfeStates.ts';

/** The facts in the timeline of a CFE. */
export interface CfeHistory {
  readonly createdAt: Date;
  /** The requester, in words; null if unknown or hidden from the reader. */
  readonly by: string | null;
  readonly settledAt: Date | null;
  readonly status: CfeStatus;
  /** The CFE is never sent. */
  readonly reportOnly: boolean;
  readonly rejection: readonly RejectionReason[] | null;
  readonly sobres: readonly {
    /** Null while the sobre is OPEN. */
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

/** One entry of the timeline. */
export interface TimelineEntry {
  readonly at: Date;
  readonly what: string;
  /** The explanation, the actor or the authority's reasons. */
  readonly more: string | null;
  readonly kind: 'step' | 'call' | 'stuck' | 'act' | 'verdict';
  /** The call whose request and response are stored: the last call of a group. */
  readonly attempt?: AttemptSummary;
}

/** Returns the timeline in the words of a language. */
export function cfeTimeline(history: CfeHistory, words: CfeWords): TimelineEntry[] {
  const { timeline } = words;
  const step = (at: Date | null, what: string): TimelineEntry[] =>
    at === null ? [] : [{ at, what, more: null, kind: 'step' }];
  const entries: TimelineEntry[] = [
    {
      at: history.createdAt,
      what: timeline.numbered,
      more: history.by === null ? null : timeline.by(history.by),
      kind: 'step',
    },
    ...history.sobres.flatMap(({ idemisor, createdAt, sendingAt, receivedAt, state }) =>
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
    ...history.attempts.flatMap((attempt) => callsOf(attempt, words)),
    ...history.stuck.flatMap(({ reason, since, until }): TimelineEntry[] => [
      {
        at: since,
        what: timeline.stuck(words.stuck[reason].label),
        more: words.stuck[reason].means,
        kind: 'stuck',
      },
      ...step(until, timeline.goesOn),
    ]),
    ...history.acts.filter((act) => !hasEnded(act, history.acts)).map((act) => actHappening(act, words)),
    ...(history.settledAt && isFinal(history.status)
      ? [
          {
            at: history.settledAt,
            what:
              history.reportOnly && history.status === 'ACCEPTED'
                ? words.onlyReported
                : timeline.verdict(words.status[history.status].label),
            more: history.rejection?.map(reasonText).join('; ') ?? null,
            kind: 'verdict' as const,
          },
        ]
      : []),
  ];
  return entries.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** Returns the first and the last call of a group of equal calls; only the last call has its contents stored. */
function callsOf(attempt: AttemptSummary, words: CfeWords): TimelineEntry[] {
  const { operation, answer, reasons, detail, count, firstAt, firstMilliseconds, lastAt, lastMilliseconds } =
    attempt;
  const call = (at: Date, milliseconds: number, times: string | null): TimelineEntry => ({
    at,
    what: `${answerMeans(answer, words).replace(/\.$/, '')} (${answer.replace(/^code /, '')})`,
    more: [
      words.operation[operation],
      times,
      `${milliseconds} ms`,
      detail === answer ? null : detail,
      ...reasons.map(reasonText),
    ]
      .filter(Boolean)
      .join(' · '),
    kind: 'call',
    attempt,
  });
  if (count === 1) return [call(firstAt, firstMilliseconds, null)];
  const { attempt: _ofTheLast, ...first } = call(firstAt, firstMilliseconds, words.timeline.first(count));
  return [first, call(lastAt, lastMilliseconds, words.timeline.last(count))];
}

const reasonText = ({ code, message, detail }: RejectionReason): string =>
  `${code} «${message}»${detail === null ? '' : ` (${detail})`}`;

type Act = CfeHistory['acts'][number];

/** True for the request of an action whose outcome is a later entry. */
const hasEnded = ({ requestId, outcome }: Act, acts: readonly Act[]): boolean =>
  requestId !== null &&
  outcome === null &&
  acts.some((other) => other.requestId === requestId && other.outcome !== null);

/** Describes an action: name, outcome, actor and origin. Values without words are shown as stored. */
function actHappening(
  { at, action, outcome, requestId, actor, address, reason }: Act,
  { action: acts, outcome: outcomes, timeline }: CfeWords,
): TimelineEntry {
  const act = SUPPORT_ACTIONS.find((known) => `cfe.${known}` === action);
  const label = act ? acts[act].label : action === 'cfe.credit' ? timeline.credited : action;
  const end = SUPPORT_OUTCOMES.find((known) => known === outcome);
  const result = end ? outcomes[end] : (outcome ?? (requestId === null ? null : timeline.asked));
  const actorName = actor === 'unverified' ? timeline.unverified : actor;
  const origin = address === null ? null : timeline.from(address);
  return {
    at,
    what: [label, result].filter(Boolean).join(': '),
    more: [[actorName, origin].filter(Boolean).join(' '), reason].filter(Boolean).join(': '),
    kind: 'act',
  };
}
