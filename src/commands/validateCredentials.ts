import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { Sealer } from '../crypto/sealed.ts';
import { countToday } from '../db/counts.ts';
import {
  failureCounterOf,
  findCredentialsChecks,
  hasPendingCheck,
  withdrawOtherChecks,
} from '../db/credentialsChecks.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import { enqueue } from '../db/outbox.ts';
import { credentialsPause, FAILED_A_DAY, type Pause, UNDER_WAY_SECONDS } from '../domain/credentialsPause.ts';
import type { ValidateCredentials } from '../domain/enterprise.ts';
import { montevideoDate, secondsToMidnight } from '../domain/montevideo.ts';
import { Refusal } from '../errors.ts';
import { SIGNALS, validateCredentialsMessage } from '../temporal.ts';
import { changeEnterprise } from './steps/changeEnterprise.ts';
import { isOwnerProven, type OwnershipDeps } from './steps/ownership.ts';

/** What checks of logins need beside what all commands do. */
export interface ValidateCredentialsDeps extends OwnershipDeps {
  readonly sealer: Sealer;
  /** Tells whether the login that is being checked is given once more. */
  readonly requestHash: RequestHash;
}

interface Input {
  /** The calling account. */
  accountId: string;
  rut: string;
  login: ValidateCredentials;
}

/**
 * Asks for a check of the enterprise's e-invoicing login at the authority; its result comes later, by the workflow. A
 * login that is given replaces the stored one and is kept sealed; without one the stored one is checked. While a check
 * runs, asking again joins it. Refuses an account that has had too many failures, here or over all its enterprises in a
 * day, or too many checks of an enterprise whose owner no certificate proves (RATE_LIMITED): the service is no place to
 * guess logins at.
 */
export function validateCredentials(deps: ValidateCredentialsDeps, input: Input): Promise<Enterprise> {
  const { rut, login } = input;
  return changeEnterprise(deps, rut, { action: 'credentials.validate' }, async (em, enterprise, now) => {
    await countAsked(em, deps, input, { isRunning: enterprise.efacturaStatus === 'VALIDATING', now });
    if (login.username !== undefined && login.password !== undefined) {
      const { username, password } = login;
      const secret = Buffer.from(JSON.stringify({ username, password }), 'utf8');
      enterprise.sealedLogin = deps.sealer.seal(secret, { purpose: 'efactura-login', rut, rowId: rut });
      secret.fill(0);
    }
    enterprise.efacturaStatus = 'VALIDATING';
    enqueue(em, { ...validateCredentialsMessage(rut), signal: SIGNALS.validateAgain }, now);
    return enterprise;
  });
}

/** Counts a check for the account, unless it joins the one that runs; refuses where it must pause. */
async function countAsked(
  em: EntityManager,
  deps: ValidateCredentialsDeps,
  { accountId, rut, login }: Input,
  { isRunning, now }: { isRunning: boolean; now: Date },
): Promise<void> {
  const { username, password } = login;
  const text = Buffer.from(JSON.stringify([username, password]), 'utf8');
  const request = { method: 'CHECK', path: rut, body: text };
  const checks = await findCredentialsChecks(em, { rut, accountId });
  const { pendingHash: pending } = checks;
  const isSame =
    username === undefined || (pending !== null && deps.requestHash(request, pending).equals(pending));
  const hash = deps.requestHash(request);
  text.fill(0);
  if (isRunning && isSame) return;

  const pause = credentialsPause(checks, { now, isProven: await isOwnerProven(em, rut, deps) });
  if (pause) throw paused(pause);
  // What is stored was counted when it was given; without a login nothing is guessed.
  const countsAsFailed = username !== undefined;
  const failures = { counter: failureCounterOf(accountId), most: FAILED_A_DAY };
  await withdrawOtherChecks(em, { rut, accountId });
  if (await countToday(em, countsAsFailed ? [failures] : [], now)) {
    const seconds = (await hasPendingCheck(em, accountId)) ? UNDER_WAY_SECONDS : secondsToMidnight(now);
    const why = `Logins of the account's enterprises failed ${FAILED_A_DAY} times today, those that are being checked included`;
    throw paused({ seconds, why });
  }
  // Nobody will hear how the account's own login fared that this one takes the place of, yet the authority may be asked.
  if (isRunning && checks.pendingHash !== null) {
    checks.failures += 1;
    checks.failedAt = now;
  }
  const today = montevideoDate(now);
  checks.checks = checks.day === today ? checks.checks + 1 : 1;
  Object.assign(checks, { day: today, pendingHash: hash, countsAsFailed });
}

const paused = ({ seconds, why }: Pause): Refusal =>
  new Refusal('RATE_LIMITED', `${why}; the next check may be asked for in ${seconds} seconds.`, {
    retryAfterSeconds: seconds,
  });
