import { countCheckResult } from '../../db/enterprises/credentialsChecks.ts';
import { findEnterprise, lockEnterprise } from '../../db/enterprises/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import type { Orm } from '../../db/orm.ts';
import { enqueue } from '../../db/outbox.ts';
import { recordEnterpriseChanges, recordEvent } from '../../db/webhooks/events.ts';
import { CredentialsCheckUnavailable, type LoginAnswer } from '../../dgi/credentials.ts';
import type { LoginValidation } from '../../domain/authority/activityResults.ts';
import { efacturaLogin, type LoginResult } from '../../domain/webhooks/webhookEvents.ts';
import { factsChangedMessage } from '../../temporal.ts';
import type { Activity } from '../activities.ts';
import { authorityUnreachable, notYet, withHeartbeat } from '../authority/attempt.ts';

export interface Login {
  username: string;
  password: string;
}

export interface ValidateLoginDeps {
  orm: Orm;
  clock: () => Date;
  outbox: { scheduleDispatch(): void };
  /** Decrypts the login in the enterprise's row; null if none is stored. Throws if no key opens it. */
  openLogin: (enterprise: Enterprise) => Login | null;
  /**
   * Asks the authority, with the RUT alone if no login is stored. Throws CredentialsCheckUnavailable if it
   * cannot be reached.
   */
  checkLogin: (query: { rut: string } & Partial<Login>) => Promise<LoginAnswer>;
}

/**
 * Checks at a time in one process, a tenth of the slots that they share with CFEs: many checks at a slow
 * service delay other checks but no receipt.
 */
const CHECKS_AT_ONCE = 20;
/** A check without a slot is retried after this pause, or up to twice as long, to avoid constant polling. */
const BUSY_MILLISECONDS = 10_000;

/**
 * Asks the authority whether the stored login is valid and stores its permissions
 * (docs/contract.md#credentials). If the login changes meanwhile, the new one is checked.
 */
export function createValidateLogin(deps: ValidateLoginDeps): Activity<'validateLogin'> {
  let underWay = 0;
  return async (rut) => {
    if (underWay >= CHECKS_AT_ONCE) {
      const wait = BUSY_MILLISECONDS * (1 + Math.random());
      throw notYet('Other checks of logins are in progress; this one waits for a slot.', wait);
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

/**
 * Stores an answer with its event and notifies the onboarding, if the login is still the one that was
 * checked.
 */
function store(
  { orm, clock }: ValidateLoginDeps,
  { rut, sealedLogin }: Enterprise,
  answer: LoginAnswer,
): Promise<LoginResult | 'loginChanged'> {
  return orm.em.fork().transactional(async (em) => {
    const enterprise = await lockEnterprise(em, rut);
    const isCheckedLogin =
      enterprise?.efacturaStatus === 'VALIDATING' && enterprise.sealedLogin === sealedLogin;
    if (!isCheckedLogin) return 'loginChanged';
    const now = clock();
    await countCheckResult(em, rut, { failed: answer.login === 'failed', now });
    enqueue(em, factsChangedMessage(rut), now);
    const result = await recordEnterpriseChanges(em, enterprise, now, () =>
      applyAnswer(enterprise, answer, now),
    );
    await recordEvent(em, { rut, environment: 'production' }, efacturaLogin(enterprise, result), now);
    return result;
  });
}

/**
 * Applies an answer; after a failed login the permissions of the last success stay
 * (docs/contract.md#credentials).
 */
function applyAnswer(enterprise: Enterprise, answer: LoginAnswer, now: Date): LoginResult {
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
