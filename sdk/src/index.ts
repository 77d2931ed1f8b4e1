export { type CallOptions, CfeClient, type ClientOptions, type Environment } from './client.ts';
export { Decimal } from './decimal.ts';
export { CfeRefused, CfeUnanswered } from './errors.ts';
export type {
  Cfe,
  CfeRequest,
  Customer,
  DataOf,
  Enterprise,
  ErrorCode,
  Fault,
  OperationName,
  RequestOf,
  Validation,
  WebhookEvent,
} from './types.ts';
export { NotOurs, verifyWebhook } from './webhooks.ts';
