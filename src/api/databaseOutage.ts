/**
 * Codes of a database that cannot be reached or is going away: of the socket, and of PostgreSQL (class 08 connection
 * exceptions; 53300 too many connections; 57P01–57P03 shutdown, crash, start-up).
 */
const CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|08\w{3}|53300|57P0[123])$/;
/** The PostgreSQL driver gives these no code. */
const WORDS =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error)/;

/** Whether `error`, or what caused it, is the database being out of reach. */
export function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CODES.test(code) || WORDS.test(error.message)) return true;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return inner.some(isDatabaseOutage);
}
