import type { RuleRow } from './bodyRules.ts';

/** The rules on headers, queries and the state of the account: rows of docs/rules.md. */
export const REQUEST_RULES = {
  'preview.prices': {
    checks: 'A preview says whether prices include VAT if a line has VAT.',
    source: 'docs/contract.md#preview',
    example: 'query.prices: is required for lines with VAT: net, or gross if prices include it.',
  },
  'credit.original': {
    checks: 'Only a receipt or debit note that is not REJECTED can be credited.',
    source: 'docs/contract.md#crediting',
    example: 'cfe_id: must be a receipt or debit note that is not REJECTED, found one of type ETICKET_NC.',
  },
  'credit.nothing_left': {
    checks: 'Something of the receipt is left to credit.',
    source: 'docs/contract.md#crediting',
    example: 'Nothing of the receipt is left to credit.',
  },
  'credit.too_much': {
    checks: 'A credit note takes at most what is left, of each line too.',
    source: 'docs/contract.md#crediting',
    example: 'amount: must come to at most the 22.00 UYU that are left, found 22.01 UYU.',
  },
  'credit.too_little': {
    checks: 'A credit note takes something of each line named, at least a cent.',
    source: 'docs/contract.md#crediting',
    example: 'percent: must come to 0.01 UYU or more, found 0.00 UYU.',
  },
  'credit.line': {
    checks: 'A credit note names lines of the receipt, each once.',
    source: 'docs/contract.md#crediting',
    example: 'lines[0].line_number: must be a line of the receipt, 1 to 3, found 4.',
  },
  'sandbox.malformed': {
    checks: 'X-Sandbox-Mode, if sent, is true or false.',
    source: 'docs/contract.md#sandbox-mode',
    example: 'X-Sandbox-Mode must be true or false.',
  },
  'sandbox.unsupported': {
    checks: 'X-Sandbox-Mode true goes only to endpoints that serve the sandbox.',
    source: 'docs/contract.md#sandbox-mode',
    example: 'X-Sandbox-Mode true is not supported here: this endpoint is for production only.',
  },
  'idempotency_key.malformed': {
    checks: 'Idempotency-Key is one string of 1 to 255 printable ASCII characters.',
    source: 'docs/contract.md#idempotency',
    example: 'Idempotency-Key must be one string of 1 to 255 printable ASCII characters.',
  },
  'idempotency_key.reused': {
    checks:
      'A request with a used Idempotency-Key equals the first: `path` is the first difference, `details.cfe_id` its CFE.',
    source: 'docs/contract.md#idempotency',
    example:
      'The Idempotency-Key was used for another request: the first difference is at /header/totals/pay_amount.',
  },
  'events.after_unknown': {
    checks: '`after` is the id of an event of the account that is still kept.',
    source: 'docs/contract.md#reading-events',
    example:
      'after: must be the id of an event that you have read and that is still kept; omit it to start with the oldest.',
  },
  'enterprise.too_many_unproven': {
    checks: 'An account has at most 20 enterprises without a certificate, or what the operator allows.',
    source: 'docs/contract.md#limits',
    example:
      'The account has 20 enterprises without a certificate already, the maximum; upload a certificate for one of them first.',
  },
  'mail.cfe_rejected': {
    checks: 'A receipt to send by e-mail is not REJECTED.',
    source: 'docs/contract.md#e-mail',
    example: 'The CFE was rejected: its receipt has no value and is not sent.',
  },
  'mail.bounced': {
    checks: 'The address has not permanently refused an e-mail of the account.',
    source: 'docs/contract.md#e-mail',
    example:
      'destination: this address permanently refused an e-mail of the account; correct it, or ask the operator to try it again.',
  },
  'mail.sandbox': {
    checks: 'A sandbox receipt goes to an address that the operator allowed.',
    source: 'docs/contract.md#e-mail',
    example: 'destination: sandbox receipts are sent only to addresses that the operator has allowed.',
  },
} as const satisfies Record<string, RuleRow>;

export type RequestRule = keyof typeof REQUEST_RULES;
