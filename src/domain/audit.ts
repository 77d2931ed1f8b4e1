/** Who acts: a customer's account over HTTP, a person at the command line, support in the Temporal UI, or we ourselves. */
export type Actor = `account:${string}` | `cli:${string}` | `support:${string}` | 'service';

/** What is written into the audit. */
export type AuditAction =
  | 'account.create'
  | 'api_key.create'
  | 'api_key.revoke'
  | 'authority_certificate.add'
  | 'cae.upload'
  | 'certificate.upload'
  | 'credentials.validate'
  | 'enterprise.create'
  | 'enterprise.update'
  | 'enterprise.suspend'
  | 'enterprise.resume'
  | 'grant.set'
  | 'grant.remove'
  | 'limit.set'
  | 'plan.load'
  | 'ui_value.load'
  | 'payment.settle'
  | 'payment.cancel'
  | 'webhook.add'
  | 'webhook.update'
  | 'webhook.remove'
  | 'webhook.rotate_secret'
  | 'webhook.test'
  | 'webhook.disable'
  | 'delivery.redeliver';
