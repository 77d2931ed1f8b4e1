/** What the processes tell of their work as it happens: ports for those who do it and know of no metrics. */
import type { Registry } from 'prom-client';
import type { Verdict } from '../activities/settleCfe.ts';
import type { StoredAttempt } from '../activities/webhooks.ts';
import type { AuthorityCall } from '../dgi/client.ts';
import { counter, histogram } from './instruments.ts';

/** The answer of the table of outcomes where an endpoint is away and only probes go there. */
const HELD_BACK = 'held back';

/** A call to the authority, or to the check of logins. */
type Call = Omit<AuthorityCall, 'service' | 'operation'> & { service: string; operation: string };

/** Measures calls to the authority. */
export function measureAuthority(registry: Registry): (call: Call) => void {
  const duration = histogram(registry, 'cfe_authority_request_duration_seconds');
  const answers = counter(registry, 'cfe_authority_answers_total');
  return ({ environment, service, operation, seconds, answer, result }) => {
    // One that was held back was never made.
    if (answer !== HELD_BACK) duration.observe({ environment, service, operation }, seconds);
    answers.inc({ environment, service, operation, answer, result });
  };
}

/** Measures verdicts. */
export function measureVerdicts(registry: Registry): (verdict: Verdict) => void {
  const verdicts = counter(registry, 'cfe_verdicts_total');
  const wait = histogram(registry, 'cfe_verdict_wait_seconds');
  return ({ environment, type, status, seconds }) => {
    verdicts.inc({ environment, type, status });
    wait.observe({ environment }, seconds);
  };
}

/** Measures attempts at customers' servers. */
export function measureWebhooks(registry: Registry): (attempt: StoredAttempt) => void {
  const attempts = counter(registry, 'cfe_webhook_attempts_total');
  const deliveries = counter(registry, 'cfe_webhook_deliveries_total');
  // A rate needs a beginning: the first failure would otherwise come out of nothing and count for none.
  for (const status of ['DELIVERED', 'FAILED']) deliveries.inc({ status }, 0);
  return ({ httpStatus, error, status }) => {
    attempts.inc({
      outcome: httpStatus === null ? (error ?? 'unknown') : `${Math.floor(httpStatus / 100)}xx`,
    });
    if (status !== 'PENDING') deliveries.inc({ status });
  };
}

/** A function whose calls are measured as calls of an operation; the answer is `unavailable` where it fails. */
export function measured<I, O>(
  tell: (call: Call) => void,
  of: Pick<Call, 'environment' | 'service' | 'operation'>,
  run: (input: I) => Promise<O>,
): (input: I) => Promise<O> {
  return async (input) => {
    const startedAt = performance.now();
    let came = { answer: 'unavailable', result: 'repeat' };
    try {
      const output = await run(input);
      came = { answer: 'document', result: 'answered' };
      return output;
    } catch (error) {
      if (error instanceof Error && error.message === HELD_BACK) came.answer = HELD_BACK;
      throw error;
    } finally {
      tell({ ...of, ...came, seconds: (performance.now() - startedAt) / 1_000 });
    }
  };
}
