import { countCheck } from '../db/credentialsChecks.ts';
import { findEnterprise, lockEnterprise } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import { recordEvent, recordingChanges } from '../db/events.ts';
import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import { CredentialsCheckUnavailable, type LoginAnswer } from '../dgi/credentials.ts';
import type { LoginValidation } from '../domain/activityResults.ts';
import { efacturaLogin, type LoginResult } from '../domain/webhookEvents.ts';
import { factsChangedMessage } from '../temporal.ts';
import type { Activity } from './activities.ts';
import { authorityUnreachable, notYet, withHeartbeat } from './steps/attempt.ts';

export interface Login {
  username: string;
  password: string;
}

export interface ValidateLoginDeps {
  orm: Orm;
  clock: () => Date;
  outbox: { scheduleDispatch(): void };
  /** Opens what the enterprise's row keeps sealed; null where no login is stored. Throws when no key opens it. */
  openLogin: (enterprise: Enterprise) => Login | null;
  /** Asks the authority, by the RUT alone where no login is stored; throws when it cannot be reached. */
  checkLogin: (question: { rut: string } & Partial<Login>) => Promise<LoginAnswer>;
}

/**
 * Checks under way at a time in one process, a tenth of the places that they share with CFEs: whoever asks for many, of a
 * service that is slow, holds up other checks and no receipt.
 */
const CHECKS_AT_ONCE = 20;
/** One that finds no place asks again after so long, or up to twice that: many must not ask all the time. */
const BUSY_MILLISECONDS = 10_000;

/**
 * Asks the authority whether the stored login holds and stores what it may do (docs/contract.md#credentials). A login
 * that changes while the authority is asked is asked about again.
 */
export function createValidateLogin(deps: ValidateLoginDeps): Activity<'validateLogin'> {
  let underWay = 0;
  return async (rut) => {
    if (underWay >= CHECKS_AT_ONCE) {
      const wait = BUSY_MILLISECONDS * (1 + Math.random());
      throw notYet('Other checks of logins are under way; this one waits for a place.', wait);
    }
    underWay += 1;
    try {
      return await withHeartbeat(() => validate(deps, rut));
    } finally {
      underWay -= 1;
    }
  };
}

async function validate(deps: ValidateLoginDeps, rut: string): Promise<LoginValidation> {
  for (;;) {
    const enterprise = await findEnterprise(deps.orm.em.fork(), rut);
    if (enterprise?.efacturaStatus !== 'VALIDATING') return { kind: 'nothingToDo' };
    const answer = await ask(deps, rut, deps.openLogin(enterprise));
    const result = await store(deps, enterprise, answer);
    if (result === 'loginChanged') continue;
    deps.outbox.scheduleDispatch();
    return { kind: 'checked', result };
  }
}

async function ask(
  { checkLogin }: ValidateLoginDeps,
  rut: string,
  login: Login | null,
): Promise<LoginAnswer> {
  try {
    return await checkLogin({ rut, ...login });
  } catch (error) {
    if (!(error instanceof CredentialsCheckUnavailable)) throw error;
    throw authorityUnreachable('credentials check');
  }
}

/** Stores an answer with its event, and tells the onboarding, provided that the login is the one that was asked about. */
function store(
  { orm, clock }: ValidateLoginDeps,
  { rut, sealedLogin }: Enterprise,
  answer: LoginAnswer,
): Promise<LoginResult | 'loginChanged'> {
  return orm.em.fork().transactional(async (em) => {
    const enterprise = await lockEnterprise(em, rut);
    const isAsked = enterprise?.efacturaStatus === 'VALIDATING' && enterprise.sealedLogin === sealedLogin;
    if (!isAsked) return 'loginChanged';
    const now = clock();
    await countCheck(em, rut, { failed: answer.login === 'failed', now });
    enqueue(em, factsChangedMessage(rut), now);
    const result = await recordingChanges(em, enterprise, now, () => take(enterprise, answer, now));
    await recordEvent(em, { rut, environment: 'production' }, efacturaLogin(enterprise, result), now);
    return result;
  });
}

/** Takes an answer over; permissions stay those of the last success when the login fails (docs/contract.md#credentials). */
function take(enterprise: Enterprise, answer: LoginAnswer, now: Date): LoginResult {
  const wasValid = enterprise.loginStatus === 'SUCCESS';
  const before = [...enterprise.permissions].sort().join();
  enterprise.lastValidatedAt = now;
  if (answer.login === 'failed') {
    enterprise.loginStatus = 'FAILED';
    enterprise.efacturaStatus = 'INVALID';
    return 'failed';
  }
  enterprise.loginStatus = 'SUCCESS';
  enterprise.efacturaStatus = 'VALID';
  enterprise.permissions = [...answer.permissions];
  return wasValid && before !== [...answer.permissions].sort().join() ? 'permissions_updated' : 'success';
}
