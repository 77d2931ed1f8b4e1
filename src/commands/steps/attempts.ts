/** Attempts to prove who one is, by a password or a code, at the sign-in and wherever either is asked for again. */
import { createHash } from 'node:crypto';
import { type AttemptCount, countSignIn } from '../../db/consoleSessions.ts';
import { SIGN_IN_LIMITS } from '../../domain/people.ts';
import { Refusal } from '../../errors.ts';
import type { Place, SignInDeps } from './people.ts';

/** From where somebody tries. */
export interface SignInPlace extends Place {
  /** The network that the address is in. */
  readonly network: string;
  /** Whether the one with this address of e-mail signed in from this browser before, and which browser it is; null where not. */
  readonly knownBrowser: string | null;
}

/**
 * Counts the attempt in the places that it comes from; answers them. A browser from which that person signed in before has a count of its
 * own, and no other holds for it: who fails for them elsewhere, or from the same network, does not lock them out.
 */
export async function countAttempt(
  deps: Pick<SignInDeps, 'orm'>,
  email: string,
  { network, knownBrowser }: SignInPlace,
  now: Date,
): Promise<string[]> {
  const account = createHash('sha256').update(email.toLowerCase()).digest('base64url');
  const counted: [place: string, most: number][] =
    knownBrowser === null
      ? [
          [`network:${network}`, SIGN_IN_LIMITS.network],
          [`account:${account}`, SIGN_IN_LIMITS.account],
        ]
      : [[`browser:${account}:${knownBrowser}`, SIGN_IN_LIMITS.browser]];
  const em = deps.orm.em.fork();
  for (const [place, most] of counted) {
    const count = await countSignIn(em, place, now);
    // The network first: what it has too many of is not counted for the person.
    if (count.attempts > most) throw tooMany(count, now);
  }
  return counted.map(([place]) => place);
}

function tooMany({ resetsAt }: AttemptCount, now: Date): Refusal {
  const seconds = Math.max(1, Math.ceil((resetsAt.getTime() - now.getTime()) / 1_000));
  return new Refusal('RATE_LIMITED', `Too many attempts; try again in ${Math.ceil(seconds / 60)} minutes.`, {
    retryAfterSeconds: seconds,
  });
}
