import type { Sealer } from '../crypto/sealed.ts';
import type { Enterprise } from '../db/entities/Enterprise.ts';
import { enqueue } from '../db/outbox.ts';
import type { ValidateCredentials } from '../domain/enterprise.ts';
import { SIGNALS, validateCredentialsMessage } from '../temporal.ts';
import { changeEnterprise } from './steps/changeEnterprise.ts';
import type { CommandDeps } from './steps/deps.ts';

/**
 * Asks for a check of the enterprise's e-invoicing login at the authority; its result comes later, by the workflow. A
 * login that is given replaces the stored one and is kept sealed; without one the stored one is checked. While a check
 * runs, asking again joins it.
 */
export function validateCredentials(
  deps: CommandDeps & { readonly sealer: Sealer },
  input: { rut: string; login: ValidateCredentials },
): Promise<Enterprise> {
  const { rut, login } = input;
  return changeEnterprise(deps, rut, { action: 'credentials.validate' }, (em, enterprise, now) => {
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
