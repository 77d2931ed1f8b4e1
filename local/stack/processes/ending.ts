/** Ending several processes in turn; none can hold up the rest. */
import { type EndPlan, endProcess, type ProcessMark } from './processes.ts';

/**
 * Nothing may be left 15 s after the supervisor's end, however it ends (docs/contract.md#local-stack); this leaves room to
 * notice that end.
 */
const ALL_ENDED_WITHIN_MS = 12_000;
const LEAST_GRACE_MS = 200;
const RESERVED_FOR_EACH_LATER_MS = 700;

/** PostgreSQL's fast shutdown (SIGINT: open transactions are rolled back), then its immediate one (SIGQUIT). */
export const POSTGRES_END: EndPlan = [
  { signal: 'SIGINT', graceMs: 5_000 },
  { signal: 'SIGQUIT', graceMs: 1_500 },
];
/** For everything else. */
export const ORDINARY_END: EndPlan = [{ signal: 'SIGTERM', graceMs: 5_000 }];

/** Ends the processes, those with the highest order first, all of them within 12 s. */
export async function endInOrder(
  processes: readonly { readonly mark: ProcessMark; readonly plan: EndPlan; readonly order: number }[],
): Promise<void> {
  const deadline = performance.now() + ALL_ENDED_WITHIN_MS;
  const inOrder = [...processes].sort((a, b) => b.order - a.order);
  for (const [index, { mark, plan }] of inOrder.entries()) {
    const left = deadline - performance.now() - (inOrder.length - index) * RESERVED_FOR_EACH_LATER_MS;
    const share = left / plan.length;
    await endProcess(
      mark,
      plan.map((step) => ({ ...step, graceMs: Math.max(LEAST_GRACE_MS, Math.min(step.graceMs, share)) })),
    );
  }
}
