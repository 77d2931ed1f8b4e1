import type { EntityManager } from '@mikro-orm/postgresql';
import type { RequestHash } from '../../crypto/requestHash.ts';
import type { Sealer } from '../../crypto/sealed.ts';
import {
  failureCounterOf,
  findCredentialsChecks,
  hasPendingCheck,
  withdrawOtherChecks,
} from '../../db/enterprises/credentialsChecks.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { enqueue } from '../../db/outbox.ts';
import { countToday } from '../../db/people/counts.ts';
import {
  credentialsPause,
  FAILED_A_DAY,
  type Pause,
  UNDER_WAY_SECONDS,
} from '../../domain/enterprises/credentialsPause.ts';
import type { ValidateCredentials } from '../../domain/enterprises/enterprise.ts';
import { montevideoDate, secondsToMidnight } from '../../domain/values/montevideo.ts';
import { Refusal } from '../../errors.ts';
import { SIGNALS, validateCredentialsMessage } from '../../temporal.ts';
import { changeEnterprise } from '../steps/changeEnterprise.ts';
import { isOwnerProven, type OwnershipDeps } from '../steps/ownership.ts';

/** Dependencies of login checks, beyond those of all commands. */
export interface CredentialsCheckDeps extends OwnershipDeps {
  readonly sealer: Sealer;
  /** Recognises a repeat of the login that is being checked. */
  readonly requestHash: RequestHash;
}

interface Input {
  accountId: string;
  rut: string;
  login: ValidateCredentials;
}

/**
 * Starts a check of the enterprise's e-invoicing login at the authority; the workflow provides the result. A login in the
 * request replaces the stored login, encrypted. A request during a check joins that check. To prevent guessing of logins,
 * throws RATE_LIMITED after too many failures of the account, or too many checks of an enterprise without proven ownership.
 */
export function requestCredentialsCheck(deps: CredentialsCheckDeps, input: Input): Promise<Enterprise> {
  const { rut, login } = input;
  return changeEnterprise(deps, rut, { action: 'credentials.validate' }, async (em, enterprise, now) => {
    await countCheck(em, deps, input, { isRunning: enterprise.efacturaStatus === 'VALIDATING', now });
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

/** Counts a check for the account unless it joins the running one. Throws when the account must pause. */
async function countCheck(
  em: EntityManager,
  deps: CredentialsCheckDeps,
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
  if (pause) throw mustPause(pause);
  // Only a new login may be a guess; a stored login was counted when it was set.
  const countsAsFailed = username !== undefined;
  const failures = { counter: failureCounterOf(accountId), most: FAILED_A_DAY };
  await withdrawOtherChecks(em, { rut, accountId });
  if (await countToday(em, countsAsFailed ? [failures] : [], now)) {
    const seconds = (await hasPendingCheck(em, accountId)) ? UNDER_WAY_SECONDS : secondsToMidnight(now);
    const why = `Logins of the account's enterprises failed ${FAILED_A_DAY} times today, including those still being checked`;
    throw mustPause({ seconds, why });
  }
  // The replaced check counts as failed: it may still reach the authority, and its result is lost.
  if (isRunning && checks.pendingHash !== null) {
    checks.failures += 1;
    checks.failedAt = now;
  }
  const today = montevideoDate(now);
  checks.checks = checks.day === today ? checks.checks + 1 : 1;
  Object.assign(checks, { day: today, pendingHash: hash, countsAsFailed });
}

const mustPause = ({ seconds, why }: Pause): Refusal =>
  new Refusal('RATE_LIMITED', `${why}; the next check is possible in ${seconds} seconds.`, {
    retryAfterSeconds: seconds,
  });
