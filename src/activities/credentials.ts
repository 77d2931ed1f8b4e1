import { activityInfo } from '@temporalio/activity';
import { findEnterprise, lockEnterprise } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import { recordEvent, recordingChanges } from '../db/events.ts';
import type { Orm } from '../db/orm.ts';
import { enqueue } from '../db/outbox.ts';
import { CredentialsCheckUnavailable, type LoginAnswer } from '../dgi/credentials.ts';
import { efacturaLogin } from '../domain/webhookEvents.ts';
import { factsChangedMessage } from '../temporal.ts';
import { unreachable } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

export interface Login {
  username: string;
  password: string;
}

export interface CredentialDeps {
  orm: Orm;
  clock: () => Date;
  outbox: { dispatchSoon(): void };
  /** Opens what the enterprise's row keeps sealed; null where no login is stored. Throws when no key opens it. */
  openLogin: (enterprise: Enterprise) => Login | null;
  /** Asks the authority, by the RUT alone where no login is stored; throws when it cannot be reached. */
  checkLogin: (question: { rut: string } & Partial<Login>) => Promise<LoginAnswer>;
}

export type ValidationResult = 'success' | 'failed' | 'permissions_updated';

/** Activities about an enterprise's login at the authority. */
export const createCredentialActivities = (deps: CredentialDeps) => ({
  /**
   * Asks the authority whether the stored login holds and stores what it may do (decisions.md §3). Null when no check
   * is wanted (any more). A login that changes while the authority is asked is asked about again.
   */
  validateLogin: (rut: string): Promise<{ result: ValidationResult | null }> =>
    whileBeating(() => validate(deps, rut)),
});

async function validate(
  { orm, clock, outbox, openLogin, checkLogin }: CredentialDeps,
  rut: string,
): Promise<{ result: ValidationResult | null }> {
  for (;;) {
    const asked = await findEnterprise(orm.em.fork(), rut);
    if (asked?.efacturaStatus !== 'VALIDATING') return { result: null };
    const answer = await ask(rut, openLogin(asked));
    const result = await orm.em.fork().transactional(async (em) => {
      const row = await lockEnterprise(em, rut);
      if (!row || row.sealedLogin !== asked.sealedLogin) return undefined;
      enqueue(em, factsChangedMessage(rut), clock());
      const now = clock();
      const outcome = await recordingChanges(em, row, now, () => record(row, answer, now));
      await recordEvent(em, { rut, environment: 'production' }, efacturaLogin(row, outcome), now);
      return outcome;
    });
    if (result === undefined) continue;
    outbox.dispatchSoon();
    return { result };
  }

  async function ask(of: string, login: Login | null): Promise<LoginAnswer> {
    try {
      return await checkLogin({ rut: of, ...login });
    } catch (error) {
      if (!(error instanceof CredentialsCheckUnavailable)) throw error;
      throw unreachable(activityInfo().attempt, 'credentials check');
    }
  }
}

/** Stores an answer; permissions stay those of the last success when the login fails (decisions.md §12). */
function record(enterprise: Enterprise, answer: LoginAnswer, now: Date): ValidationResult {
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

export type CredentialActivities = ReturnType<typeof createCredentialActivities>;
