import type { RuleRow } from './bodyRules.ts';

/** What can be wrong with a request beside its body: rows of docs/rules.md. */
export const REQUEST_RULES = {
  'sandbox.malformed': {
    checks: 'X-Sandbox-Mode is true or false, where it is sent.',
    source: 'docs/contract.md#sandbox-mode',
    example: 'X-Sandbox-Mode must be true or false.',
  },
  'sandbox.unsupported': {
    checks: 'X-Sandbox-Mode true is sent only where the sandbox is served.',
    source: 'docs/contract.md#sandbox-mode',
    example: 'X-Sandbox-Mode true is not supported here: this endpoint is for production only.',
  },
  'idempotency_key.malformed': {
    checks: 'Idempotency-Key is one string of 1 to 255 printable ASCII characters, where it is sent.',
    source: 'docs/contract.md#idempotency',
    example: 'Idempotency-Key must be one string of 1 to 255 printable ASCII characters.',
  },
  'idempotency_key.reused': {
    checks:
      'A request with an Idempotency-Key that was used asks for the same as the first: `path` is where it differs, `details.cfe_id` the CFE that the key made.',
    source: 'docs/contract.md#idempotency',
    example:
      'Not the request that the Idempotency-Key stands for: it differs first at /header/totals/pay_amount.',
  },
  'events.after_unknown': {
    checks: '`after` is the id of an event that the account has read and that is still kept.',
    source: 'docs/contract.md#reading-events',
    example:
      'after: must be the id of an event that you have read and that is still kept; leave it out to begin with the oldest.',
  },
  'enterprise.too_many_unproven': {
    checks: 'An account has no more enterprises without a certificate than the operator allows. Default: 20.',
    source: 'docs/contract.md#limits',
    example:
      'The account has 20 enterprises without a certificate already, the maximum; upload a certificate for one of them first.',
  },
  'mail.cfe_rejected': {
    checks: 'The receipt that is to be sent by e-mail is not that of a REJECTED CFE.',
    source: 'docs/contract.md#e-mail',
    example: 'The CFE was rejected: its receipt is worth nothing and is not sent.',
  },
  'mail.bounced': {
    checks: 'The address has not refused an earlier e-mail of the account for good.',
    source: 'docs/contract.md#e-mail',
    example:
      'destination: this address refused an e-mail of the account for good; correct it, or ask the operator to try it again.',
  },
  'mail.sandbox': {
    checks: 'A receipt of the sandbox goes to an address that the operator has named for it.',
    source: 'docs/contract.md#e-mail',
    example: 'destination: receipts of the sandbox go only to addresses that the operator names.',
  },
} as const satisfies Record<string, RuleRow>;

/** A code of the table. */
export type RequestRule = keyof typeof REQUEST_RULES;
