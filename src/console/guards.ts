/** What keeps one person, account or network from taking the console from everybody else (docs/console.md#limits). */
import type { Readable } from 'node:stream';
import { countForm } from '../db/counts.ts';
import { isExceeded, secondsUntilReset } from '../domain/requestLimits.ts';
import { Refusal } from '../errors.ts';
import { networkOf } from '../http/callerAddress.ts';
import { type ConcurrencySlots, createConcurrencySlots } from '../http/concurrencySlots.ts';
import { accountsOf } from './access.ts';
import { type ConsoleDeps, type Page, type SignedIn, signedIn, ToldRefusal, type Visit } from './page.ts';
import { isForAnyone } from './permissions.ts';

/**
 * Requests that one process handles at a time; it has 20 connections to the database unless told. A person has fewer than their
 * account, an account fewer than all members together, and these leave half the connections to operators. A person's forms and
 * pages have places of their own: a form may wait minutes for a workflow, and its sender must be able to look meanwhile.
 */
const AT_ONCE = { browser: 4, network: 10, person: 4, account: 6, members: 10 } as const;
/** Open at a time: files that are read from the database while they are sent, and streams of changes. */
const FILES = { person: 2, account: 6 } as const;
const STREAMS = { person: 5, account: 50, members: 500 } as const;
const RETRY_AFTER_SECONDS = { busy: 2, file: 30 } as const;

export interface Guards {
  /** Runs `work`, which finds out who asks: few at a time of a browser, by the session it claims, and of a network. */
  lookUp<T>(from: { token: string; address: string }, work: () => Promise<T>): Promise<T>;
  /** Runs what reads a request, and all that follows: few at a time of a person. However slowly it comes, it holds up nobody else. */
  whileReading<T>(page: Page, visit: Visit, work: () => Promise<T>): Promise<T>;
  /** Runs what a page does: few at a time of an account, of all members, and of a network those who are not signed in. */
  whileHandling<T>(page: Page, visit: Visit, work: () => Promise<T>): Promise<T>;
  /** Counts a form that somebody sends; refuses one too many (RATE_LIMITED). */
  countForm(page: Page, visit: Visit, deps: ConsoleDeps): Promise<void>;
  /** Takes a place for a file until it is closed. Refuses where there is none (RATE_LIMITED). */
  sendFile(visit: Visit, file: Readable): Promise<void>;
  /** Takes a place for a stream of changes until `closed` settles. False where there is none. */
  openStream(somebody: SignedIn, closed: Promise<unknown>): Promise<boolean>;
}

const busy = (): Refusal => refusal('UNAVAILABLE', 'console.busy', RETRY_AFTER_SECONDS.busy);
const tooManyFiles = (): Refusal => refusal('RATE_LIMITED', 'files.too_many', RETRY_AFTER_SECONDS.file);

/** The guards of one process. */
export function createGuards(): Guards {
  const requests = (kind: keyof typeof AT_ONCE): ConcurrencySlots =>
    createConcurrencySlots({ atOnce: AT_ONCE[kind], full: busy });
  const [browsers, networks] = [requests('browser'), requests('network')];
  const [people, accounts, members] = [requests('person'), requests('account'), requests('members')];
  const now = (atOnce: number): ConcurrencySlots =>
    createConcurrencySlots({ atOnce, waiting: 0, full: tooManyFiles });
  const files = { people: now(FILES.person), accounts: now(FILES.account) };
  const streams = {
    people: now(STREAMS.person),
    accounts: now(STREAMS.account),
    members: now(STREAMS.members),
  };

  return {
    lookUp: ({ token, address }, work) => browsers.hold(token, () => networks.hold(networkOf(address), work)),
    whileReading({ method }, { signedIn: somebody }, work) {
      return somebody ? people.hold(`${method} ${somebody.session.personId}`, work) : work();
    },
    whileHandling({ isSlow }, { signedIn: somebody, address }, work) {
      if (!somebody) return networks.hold(networkOf(address), work);
      const { viewer } = somebody;
      if (viewer.kind !== 'member') return work();
      // One place for all accounts of a person: one held while waiting for the next would pass the wait on to that account.
      const own: Held = [accounts, (accountsOf(viewer) ?? []).toSorted().join(' ')];
      return holdAll(isSlow ? [own] : [own, [members, '']], work);
    },
    async countForm(page, visit, { orm }) {
      if (isForAnyone(page.route) || !(page.counted ?? page.method === 'POST')) return;
      const { personId } = signedIn(visit).session;
      const quota = await countForm(orm.em.fork(), personId, visit.now);
      if (!isExceeded(quota)) return;
      const retryAfterSeconds = secondsUntilReset(quota, visit.now);
      const words = visit.texts.tooManyForms(quota.limit.most, Math.ceil(retryAfterSeconds / 60));
      throw new ToldRefusal('RATE_LIMITED', words, { retryAfterSeconds });
    },
    async sendFile(visit, file) {
      const closed = new Promise<void>((resolve) => file.once('close', resolve));
      await begun(ownersOf(signedIn(visit), files), closed).catch((error: unknown) => {
        file.destroy();
        throw error;
      });
    },
    async openStream(somebody, closed) {
      const own = ownersOf(somebody, streams);
      const all: Held[] = somebody.viewer.kind === 'member' ? [...own, [streams.members, '']] : own;
      return begun(all, closed).then(
        () => true,
        () => false,
      );
    },
  };
}

type Held = readonly [places: ConcurrencySlots, owner: string];

/** Those of the accounts of a person; in the same order for all, so that nobody waits in a circle. */
const accountsIn = (places: ConcurrencySlots, { viewer }: SignedIn): Held[] =>
  (accountsOf(viewer) ?? []).toSorted().map((id): Held => [places, id]);

/** Those of a person and their accounts. */
const ownersOf = (
  somebody: SignedIn,
  of: { people: ConcurrencySlots; accounts: ConcurrencySlots },
): Held[] => [[of.people, somebody.session.personId], ...accountsIn(of.accounts, somebody)];

/** Runs `work` once there is a place of each. */
const holdAll = <T>([first, ...others]: readonly Held[], work: () => Promise<T>): Promise<T> =>
  first ? first[0].hold(first[1], () => holdAll(others, work)) : work();

/** Takes a place of each until `closed`, and settles once they are taken. */
const begun = (places: readonly Held[], closed: Promise<unknown>): Promise<void> =>
  new Promise((resolve, reject) => {
    holdAll(places, () => {
      resolve();
      return closed;
    }).catch(reject);
  });

function refusal(code: 'UNAVAILABLE' | 'RATE_LIMITED', fault: string, retryAfterSeconds: number): Refusal {
  const message = 'Too much is under way for you at the moment.';
  return new Refusal(code, message, { faults: [{ path: '', code: fault, message }], retryAfterSeconds });
}
