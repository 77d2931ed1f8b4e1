import { Refusal } from '../errors.ts';

/** Requests of an account that are handled at a time by one process, which has 20 connections to the database unless told. */
const AT_ONCE = 10;
/** Requests of an account that wait for that, their bodies unread. */
const WAITING = 1_000;
const RETRY_AFTER_SECONDS = 1;

/** Lets each account have a few requests handled at a time, so that the rest of the process is there for the others. */
export interface AccountPlaces {
  /** Runs `work` once the account has a place for it. Refuses when too many of it wait (UNAVAILABLE). */
  hold<T>(accountId: string, work: () => Promise<T>): Promise<T>;
}

/** The places of all accounts in this process: those of one come in turn, first come first served. */
export function createAccountPlaces({ atOnce = AT_ONCE, waiting = WAITING } = {}): AccountPlaces {
  const accounts = new Map<string, { held: number; line: (() => void)[] }>();

  return {
    async hold(accountId, work) {
      const account = accounts.get(accountId) ?? { held: 0, line: [] };
      accounts.set(accountId, account);
      if (account.held >= atOnce) {
        if (account.line.length >= waiting) {
          const message = `More than ${waiting} requests of your account are waiting; send fewer at a time.`;
          throw new Refusal('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
        }
        // Whoever ends hands its place over, so `held` stays as it is.
        await new Promise<void>((begin) => account.line.push(begin));
      } else account.held += 1;
      try {
        return await work();
      } finally {
        const next = account.line.shift();
        if (next) next();
        else account.held -= 1;
        if (account.held === 0) accounts.delete(accountId);
      }
    },
  };
}
