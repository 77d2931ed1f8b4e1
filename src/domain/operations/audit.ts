/**
 * Who acts: an account over HTTP, a person at the command line or in the console (by e-mail address), a person in the
 * Temporal UI, which has no login (`unverified`), or the service.
 */
export type Actor = `account:${string}` | `cli:${string}` | `console:${string}` | 'unverified' | 'service';

/** Prefixes of the actors that are people. */
const PEOPLE = ['cli:', 'console:'] as const;

/** Returns the person behind an actor: an e-mail address or the value of `--by`; null if unknown. */
export function personOf(actor: Actor): string | null {
  const kind = PEOPLE.find((known) => actor.startsWith(known));
  return kind === undefined ? null : actor.slice(kind.length);
}

/** Returns every actor that a person can be. */
export const actorsOf = (person: string): Actor[] => PEOPLE.map((kind): Actor => `${kind}${person}`);

export const AUDIT_ACTIONS = [
  'account.create',
  'account.update',
  'annulment.add',
  'api_key.create',
  'api_key.revoke',
  'authority_certificate.add',
  'branch.add',
  'branch.update',
  'branch.close',
  'branch.delete',
  'cae.upload',
  'cae.sandbox',
  'certificate.upload',
  'cfe.retry',
  'cfe.settle',
  'cfe.abandon',
  'cfe.credit',
  'report.send',
  'report.override_other_system',
  'report.start',
  'report.stop',
  'report.retry',
  'report.settle',
  'report.abandon',
  'credentials.validate',
  'customer.create',
  'customer.update',
  'customer.delete',
  'enterprise.create',
  'enterprise.update',
  'enterprise.suspend',
  'enterprise.resume',
  'enterprise.end',
  'enterprise.grant_permission',
  'enterprise.withdraw_permission',
  'enterprise.transfer',
  'enterprise.idemisor',
  'enterprise.migrate',
  'grant.set',
  'grant.remove',
  'limit.set',
  'plan.load',
  'ui_value.load',
  'exchange_rate.load',
  'exchange_rate.fetch',
  'payment.settle',
  'payment.cancel',
  'key_encryption.rotate',
  'webhook.add',
  'webhook.update',
  'webhook.remove',
  'webhook.rotate_secret',
  'webhook.test',
  'webhook.disable',
  'recovery.requeue',
  'recovery.skip_numbers',
  'delivery.redeliver',
  'homologation.start',
  'homologation.stop',
  'provider_report.build',
  'provider_report.drop',
  'provider_report.receive',
  'run.start',
  'run.stop',
  'export.request',
  'export.stop',
  'export.fetch',
  'mail.send',
  'mail.resend',
  'filter.save',
  'filter.delete',
  'member.invite',
  'member.withdraw',
  'member.join',
  'member.change_role',
  'member.remove',
  'user.create',
  'user.invite',
  'user.join',
  'user.change_password',
  'user.set_second_factor',
  'user.remove_second_factor',
  'user.disable',
  'user.sign_in',
  'user.sign_out',
  'user.end_sessions',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];
