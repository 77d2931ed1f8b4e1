export { type CallOptions, CfeClient, type ClientOptions } from './client.ts';
export { Decimal } from './decimal.ts';
export { CfeRefused, CfeUnanswered } from './errors.ts';
export type {
  Cfe,
  CfeDetail,
  CfeRequest,
  Credit,
  CreditRequest,
  Customer,
  DataOf,
  Enterprise,
  Environment,
  ErrorCode,
  Fault,
  IncompleteRequest,
  ItemOf,
  ListName,
  OperationName,
  RequestOf,
  Validation,
  WebhookEvent,
} from './types.ts';
export { NotOurs, verifyWebhook } from './webhooks.ts';
