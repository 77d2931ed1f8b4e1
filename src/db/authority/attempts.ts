/** Calls to the authority for sobres and CFEs: the only module that reads or writes the table authority_attempt. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AttemptSummary, AuthorityCallRecord } from '../../domain/authority/attempt.ts';

/** Longest stored response, in bytes: responses about one receipt have some 5,000. */
const LONGEST_RESPONSE = 64 * 1024;
const LONGEST_TEXT = 1_000;

/**
 * Stores calls for a sobre or a CFE as part of a statement. Equal calls with equal answers share one row, with the
 * times of the first and the last. Parameters: `attemptValues`.
 */
export const INSERT_ATTEMPTS = `
  attempts as (
    insert into authority_attempt as kept (subject, operation, answer, result, count, first_at, first_ms, last_at, last_ms,
      next_at, detail, reasons, request, response)
    select ?::uuid, operation, answer, result, count, first_at, first_ms, last_at, last_ms, next_at, detail, reasons, request,
      decode(response, 'base64')
    from jsonb_to_recordset(?::jsonb) as made (operation text, answer text, result text, count integer, first_at timestamptz,
      first_ms integer, last_at timestamptz, last_ms integer, next_at timestamptz, detail text, reasons jsonb, request text,
      response text)
    on conflict (subject, operation, answer) do update set result = excluded.result, count = kept.count + excluded.count,
      last_at = excluded.last_at, last_ms = excluded.last_ms, next_at = excluded.next_at, detail = excluded.detail,
      reasons = excluded.reasons, request = excluded.request, response = excluded.response)`;

/** Returns the parameters of `INSERT_ATTEMPTS`. `nextAt`: when the step is retried automatically. */
export function attemptValues(
  subject: string | null,
  attempts: readonly AuthorityCallRecord[],
  nextAt: Date | null = null,
): (string | null)[] {
  const groups = Map.groupBy(attempts, ({ operation, answer }) => `${operation} ${answer}`);
  const rows = [...groups.values()].flatMap((calls) => {
    const [first] = calls;
    const last = calls.at(-1);
    return first && last ? [toRow(first, last, { count: calls.length, nextAt })] : [];
  });
  return [subject, JSON.stringify(rows)];
}

const toRow = (
  first: AuthorityCallRecord,
  last: AuthorityCallRecord,
  { count, nextAt }: { count: number; nextAt: Date | null },
) => ({
  operation: last.operation,
  answer: sanitize(last.answer),
  result: last.result,
  count,
  first_at: first.at,
  first_ms: first.milliseconds,
  last_at: last.at,
  last_ms: last.milliseconds,
  next_at: nextAt,
  detail: last.detail && sanitize(last.detail),
  reasons:
    last.reasons.length === 0
      ? null
      : last.reasons.map(({ code, message, detail }) => ({
          code: sanitize(code),
          message: sanitize(message),
          detail: detail && sanitize(detail),
        })),
  request: last.request,
  response: last.response && deflateRawSync(last.response.subarray(0, LONGEST_RESPONSE)).toString('base64'),
});

/** PostgreSQL's text cannot hold the character 0, which the authority may send. */
const sanitize = (words: string): string => words.slice(0, LONGEST_TEXT).replaceAll('\0', '');

/** Stores calls for a sobre or a CFE in a separate statement. */
export async function storeAttempts(
  em: EntityManager,
  subject: string,
  attempts: readonly AuthorityCallRecord[],
  nextAt: Date | null,
): Promise<void> {
  await em.execute(`with ${INSERT_ATTEMPTS} select`, attemptValues(subject, attempts, nextAt));
}

/** Selects the calls for a CFE and for its sobres. Takes its UUID twice. */
const CALLS_OF_CFE =
  'subject in (select ?::uuid union all select sobre_id from sobre_cfe where cfe_uuid = ?)';

/** Returns the calls for a CFE, by the time of the first; calls of different sobres are separate. */
export async function listAttemptsOfCfe(em: EntityManager, cfeUuid: string): Promise<AttemptSummary[]> {
  const rows = await em.execute<(Omit<AttemptSummary, 'reasons' | Moments> & Raw)[]>(
    `select operation, answer, result, count, detail, reasons, first_at, first_ms as "firstMilliseconds", last_at,
       last_ms as "lastMilliseconds", next_at
     from authority_attempt where ${CALLS_OF_CFE} order by first_at, operation <> 'sendSobre', operation, answer`,
    [cfeUuid, cfeUuid],
  );
  return rows.map(({ first_at, last_at, next_at, reasons, ...row }) => ({
    ...row,
    reasons: reasons ?? [],
    firstAt: new Date(first_at),
    lastAt: new Date(last_at),
    nextAt: next_at === null ? null : new Date(next_at),
  }));
}
type Moments = 'firstAt' | 'lastAt' | 'nextAt';
interface Raw {
  first_at: string;
  last_at: string;
  next_at: string | null;
  reasons: AttemptSummary['reasons'] | null;
}

/**
 * Returns request and response of the last call with this operation and answer, its time, and how many there were;
 * null if none.
 */
export async function readLastCall(
  em: EntityManager,
  cfeUuid: string,
  { operation, answer }: Pick<AuthorityCallRecord, 'operation' | 'answer'>,
): Promise<{ request: string | null; response: string | null; count: number; lastAt: Date } | null> {
  const [row] = await em.execute<
    { request: string | null; response: Buffer | null; count: number; last_at: string }[]
  >(
    `select request, response, count, last_at from authority_attempt
     where ${CALLS_OF_CFE} and operation = ? and answer = ? order by last_at desc limit 1`,
    [cfeUuid, cfeUuid, operation, answer],
  );
  if (!row) return null;
  return {
    request: row.request,
    count: row.count,
    lastAt: new Date(row.last_at),
    response: row.response && inflateRawSync(row.response).toString('utf8'),
  };
}
