/**
 * The results of activities as they were before all were told apart by `kind`, in both directions. It may go, with
 * the histories in test/replay/histories that need it, one version after no run of the old shape can be open any more
 * (CONTRIBUTING.md, Changing a workflow). Imports only types, so that workflows may use it.
 */
import type { ActivityName, ActivityResults, Stuck } from './activityResults.ts';
import type { FinalStatus } from './cfeStatus.ts';
import type { DeliveryStatus } from './webhook.ts';
import type { LoginResult } from './webhookEvents.ts';

interface OldStuck {
  stuck: Stuck['reason'];
  explanation: string;
}
interface OldResults {
  signCfe: { waitsForOriginal: boolean } | OldStuck;
  submitCfe: { status: 'RECEIVED' | 'WAITS' | FinalStatus } | OldStuck;
  awaitVerdict: { status: FinalStatus } | OldStuck;
  supportCfe: { outcome: ActivityResults['supportCfe']['kind']; message: string };
  attemptDelivery: { status: DeliveryStatus };
  makeReadyWhenComplete: { ready: boolean; lacking: string[]; dueInMilliseconds: number | null };
  recordExpiries: { told: number };
  validateLogin: { result: LoginResult | null };
}

/** The activities whose results had another shape; those that came later never had. */
type OldActivity = keyof OldResults;

const fromOldStuck = ({ stuck, explanation }: OldStuck): Stuck => ({
  kind: 'stuck',
  reason: stuck,
  explanation,
});
const toOldStuck = ({ reason, explanation }: Stuck): OldStuck => ({ stuck: reason, explanation });

const FROM_OLD: { [N in OldActivity]: (old: OldResults[N]) => ActivityResults[N] } = {
  signCfe: (old) =>
    'stuck' in old ? fromOldStuck(old) : { kind: old.waitsForOriginal ? 'waitsForOriginal' : 'signed' },
  submitCfe(old) {
    if ('stuck' in old) return fromOldStuck(old);
    if (old.status === 'WAITS') return { kind: 'waits' };
    return old.status === 'RECEIVED' ? { kind: 'received' } : { kind: 'decided', status: old.status };
  },
  awaitVerdict: (old) => ('stuck' in old ? fromOldStuck(old) : { kind: 'decided', status: old.status }),
  supportCfe: ({ outcome, message }) => ({ kind: outcome, message }),
  attemptDelivery: ({ status }) => ({
    kind: ({ DELIVERED: 'delivered', FAILED: 'failed', PENDING: 'pending' } as const)[status],
  }),
  makeReadyWhenComplete: ({ ready, lacking, dueInMilliseconds }) =>
    ready ? { kind: 'ready' } : { kind: 'lacking', lacking, dueInMilliseconds },
  recordExpiries: ({ told }) => ({ kind: 'told', enterprises: told }),
  validateLogin: ({ result }) => (result === null ? { kind: 'nothingToDo' } : { kind: 'checked', result }),
};

const TO_OLD: { [N in OldActivity]: (result: ActivityResults[N]) => OldResults[N] } = {
  signCfe: (result) =>
    result.kind === 'stuck' ? toOldStuck(result) : { waitsForOriginal: result.kind === 'waitsForOriginal' },
  submitCfe(result) {
    if (result.kind === 'stuck') return toOldStuck(result);
    if (result.kind === 'decided') return { status: result.status };
    return { status: result.kind === 'waits' ? 'WAITS' : 'RECEIVED' };
  },
  awaitVerdict: (result) => (result.kind === 'stuck' ? toOldStuck(result) : { status: result.status }),
  supportCfe: ({ kind, message }) => ({ outcome: kind, message }),
  attemptDelivery: ({ kind }) => ({
    status: ({ delivered: 'DELIVERED', failed: 'FAILED', pending: 'PENDING' } as const)[kind],
  }),
  makeReadyWhenComplete: (result) =>
    result.kind === 'ready'
      ? { ready: true, lacking: [], dueInMilliseconds: null }
      : { ready: false, lacking: result.lacking, dueInMilliseconds: result.dueInMilliseconds },
  recordExpiries: ({ enterprises }) => ({ told: enterprises }),
  validateLogin: (result) => ({ result: result.kind === 'checked' ? result.result : null }),
};

/** A result as workflows read it, whichever version of the activity gave it. */
export function presentResult<N extends ActivityName>(
  name: N,
  result: ActivityResults[N] | (N extends OldActivity ? OldResults[N] : never),
): ActivityResults[N];
export function presentResult(name: OldActivity, result: object): object {
  return 'kind' in result ? result : (FROM_OLD[name] as (old: object) => object)(result);
}

/** A result with the fields that workers of the version before read: they may run the workflow during an upgrade. */
export function withOldFields<N extends OldActivity>(
  name: N,
  result: ActivityResults[N],
): ActivityResults[N] {
  return { ...TO_OLD[name](result), ...result };
}

/** Whether an activity is one whose results had another shape; those that come later never had. */
export const hadOldShape = (name: string): name is OldActivity => Object.hasOwn(TO_OLD, name);
