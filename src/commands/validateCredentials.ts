import type { EntityManager } from '@mikro-orm/postgresql';
import { type CertificateAuthorities, isCertified } from '../crypto/certificateAuthorities.ts';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { Sealer } from '../crypto/sealed.ts';
import { currentCertificate } from '../db/certificates.ts';
import { awaitCheckFor, credentialsChecksOf } from '../db/credentialsChecks.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import { enqueue } from '../db/outbox.ts';
import { credentialsPause } from '../domain/credentialsPause.ts';
import type { ValidateCredentials } from '../domain/enterprise.ts';
import { montevideoDate } from '../domain/montevideo.ts';
import { Refusal } from '../errors.ts';
import { SIGNALS, validateCredentialsMessage } from '../temporal.ts';
import { changeEnterprise } from './steps/changeEnterprise.ts';
import type { CommandDeps } from './steps/deps.ts';

/** What checks of logins need beside what all commands do. */
export interface ValidateCredentialsDeps extends CommandDeps {
  readonly sealer: Sealer;
  /** Tells whether the login that is being checked is given once more. */
  readonly requestHash: RequestHash;
  /** Whose certificate proves who owns the RUT. */
  readonly certificateAuthorities: CertificateAuthorities;
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
 * runs, asking again joins it. Refuses an account that has had too many failures, or too many checks of an enterprise
 * whose owner no certificate proves (RATE_LIMITED): the service is no place to guess logins at.
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
  const hash = deps.requestHash({ method: 'CHECK', path: rut, body: text });
  text.fill(0);
  const checks = await credentialsChecksOf(em, { rut, accountId });
  const isSame = username === undefined || (checks.pendingHash !== null && hash.equals(checks.pendingHash));
  if (isRunning && isSame) return;

  const pause = credentialsPause(checks, { now, isProven: await isOwnerProven(em, rut, deps) });
  if (pause) {
    const message = `${pause.why}; the next check may be asked for in ${pause.seconds} seconds.`;
    throw new Refusal('RATE_LIMITED', message, { retryAfterSeconds: pause.seconds });
  }
  // Nobody will hear how the account's own login fared that this one takes the place of, yet the authority may be asked.
  if (isRunning && checks.pendingHash !== null) {
    checks.failures += 1;
    checks.failedAt = now;
  }
  const today = montevideoDate(now);
  checks.checks = checks.day === today ? checks.checks + 1 : 1;
  checks.day = today;
  checks.pendingHash = hash;
  await awaitCheckFor(em, { rut, accountId });
}

/** Whether the enterprise has a certificate of an authority that counts; one that has expired since proves it as well. */
async function isOwnerProven(
  em: EntityManager,
  rut: string,
  { certificateAuthorities }: ValidateCredentialsDeps,
): Promise<boolean> {
  const certificate = await currentCertificate(em, rut, 'production');
  return (
    certificate !== null &&
    isCertified(certificate.certificate, certificateAuthorities, certificate.createdAt)
  );
}
