import { isNativeError } from 'node:util/types';

/**
 * Codes of a database that is unreachable, going away or unable to work: of the socket, and of PostgreSQL (class 08
 * connection exceptions; class 53 too little disk, memory or connections; 57P01–57P03 shutdown, crash, start-up; 58030
 * I/O error; 25006 read-only standby), and of our own time-outs (57014 a statement, 25P03 a pause in a transaction).
 * A server whose certificate is not the right one is no database of ours either.
 */
const CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08\w{3}|53\w{3}|57P0[123]|58030|25006|57014|25P03|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)$/;
/** Errors of the PostgreSQL driver that carry no code, only these messages. */
const WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|The server does not support SSL connections)/;

/** Whether `error`, or its cause, means that the database is out of reach. */
export function isDatabaseOutage(error: unknown): boolean {
  // An error of the socket may come from another realm than ours (tests run in one of their own).
  if (!isNativeError(error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CODES.test(code) || WORDS.test(error.message)) return true;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.some(isDatabaseOutage);
}
