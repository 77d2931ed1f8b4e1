/** Metrics of work as it happens, as callbacks for code that does not know about metrics. */
import type { Registry } from 'prom-client';
import type { StoredVerdict } from '../activities/authority/storeMoves.ts';
import type { StoredMailAttempt } from '../activities/mail/storeMailAttempt.ts';
import type { StoredAttempt } from '../activities/webhooks/storeAttempt.ts';
import type { AuthorityCall } from '../dgi/client.ts';
import { MAIL_KINDS } from '../domain/mail/mail.ts';
import { PURGED_TABLES, type PurgedTable } from '../domain/operations/retention.ts';
import { counter, histogram } from './instruments.ts';

/** The outcome of a call that an open breaker prevented. */
const HELD_BACK = 'held back';

/** A call to the check of logins or to the central bank; both count as production. */
interface NeighbourCall extends Pick<AuthorityCall, 'environment' | 'seconds'> {
  readonly service: 'credentials' | 'rates';
  readonly operation: 'checkLogin' | 'closingRates' | 'lastClosing';
  readonly answer: 'document' | 'unavailable' | typeof HELD_BACK;
  readonly result: 'answered' | 'repeat';
}
type Call = AuthorityCall | NeighbourCall;

/** Measures calls to the authority. */
export function measureAuthority(registry: Registry): (call: Call) => void {
  const duration = histogram(registry, 'cfe_authority_request_duration_seconds');
  const answers = counter(registry, 'cfe_authority_answers_total');
  return ({ environment, service, operation, seconds, answer, result }) => {
    // A prevented call has no duration.
    if (answer !== HELD_BACK) duration.observe({ environment, service, operation }, seconds);
    answers.inc({ environment, service, operation, answer, result });
  };
}

/** Measures verdicts. */
export function measureVerdicts(registry: Registry): (verdict: StoredVerdict) => void {
  const verdicts = counter(registry, 'cfe_verdicts_total');
  const wait = histogram(registry, 'cfe_verdict_wait_seconds');
  return ({ environment, type, status, seconds }) => {
    verdicts.inc({ environment, type, status });
    wait.observe({ environment }, seconds);
  };
}

/** Measures attempts of activities that fail by a bug. */
export function measureBugs(registry: Registry): (activityType: string) => void {
  const faults = counter(registry, 'cfe_own_faults_total');
  return (activity_type) => faults.inc({ activity_type });
}

/** Measures attempts at customers' servers. */
export function measureWebhooks(registry: Registry): (attempt: StoredAttempt) => void {
  const attempts = counter(registry, 'cfe_webhook_attempts_total');
  const deliveries = counter(registry, 'cfe_webhook_deliveries_total');
  // Exports 0 from the start: otherwise a rate would miss the first failure.
  for (const status of ['DELIVERED', 'FAILED']) deliveries.inc({ status }, 0);
  return ({ httpStatus, error, status }) => {
    attempts.inc({
      outcome: httpStatus === null ? (error ?? 'unknown') : `${Math.floor(httpStatus / 100)}xx`,
    });
    if (status !== 'PENDING') deliveries.inc({ status });
  };
}

/** Measures attempts at the mail server. */
export function measureMails(registry: Registry): (attempt: StoredMailAttempt) => void {
  const attempts = counter(registry, 'cfe_mail_attempts_total');
  const mails = counter(registry, 'cfe_mails_total');
  for (const kind of MAIL_KINDS) for (const status of ['SENT', 'FAILED']) mails.inc({ kind, status }, 0);
  return ({ kind, error, status }) => {
    attempts.inc({ kind, outcome: error ?? 'taken' });
    if (status !== 'PENDING') mails.inc({ kind, status });
  };
}

/** Measures rows deleted past their retention. */
export function measurePurges(registry: Registry): (table: PurgedTable, rows: number) => void {
  const purged = counter(registry, 'cfe_purged_rows_total');
  for (const table of PURGED_TABLES) purged.inc({ table }, 0);
  return (table, rows) => purged.inc({ table }, rows);
}

/**
 * Wraps a function to measure its calls. A failed call counts as `unavailable`; as `held back` if `isHeldBack` recognises
 * the error: nothing was sent.
 */
export function measureCalls<I, O>(
  report: (call: Call) => void,
  operation: Pick<NeighbourCall, 'environment' | 'service' | 'operation'>,
  run: (input: I) => Promise<O>,
  { isHeldBack }: { isHeldBack: (error: unknown) => boolean },
): (input: I) => Promise<O> {
  return async (input) => {
    const startedAt = performance.now();
    let outcome: Pick<NeighbourCall, 'answer' | 'result'> = { answer: 'unavailable', result: 'repeat' };
    try {
      const output = await run(input);
      outcome = { answer: 'document', result: 'answered' };
      return output;
    } catch (error) {
      if (isHeldBack(error)) outcome = { ...outcome, answer: HELD_BACK };
      throw error;
    } finally {
      report({ ...operation, ...outcome, seconds: (performance.now() - startedAt) / 1_000 });
    }
  };
}
