/** Limits what each person, account and network uses of the console (docs/console.md#limits). */
import type { Readable } from 'node:stream';
import { countForm } from '../../db/people/counts.ts';
import { isExceeded, secondsUntilReset } from '../../domain/people/rateLimits.ts';
import { Refusal } from '../../errors.ts';
import { networkOf } from '../../http/callerAddress.ts';
import { type ConcurrencySlots, createConcurrencySlots } from '../../http/concurrencySlots.ts';
import {
  type ConsoleDeps,
  LocalizedRefusal,
  type Page,
  type SignedIn,
  signedIn,
  type Visit,
} from '../page.ts';
import { accountsOf } from './access.ts';
import { isForAnyone } from './permissions.ts';

/**
 * Concurrent requests per process, which has 20 database connections by default; operators keep half of them. A person's forms
 * and pages have separate slots: a form may wait minutes for a workflow while its sender reads pages.
 */
const AT_ONCE = { browser: 4, network: 10, person: 4, account: 6, members: 10 } as const;
/** Concurrent downloads; each uses a database connection. */
const FILES = { person: 2, account: 6 } as const;
const STREAMS = { person: 5, account: 50, members: 500 } as const;
const RETRY_AFTER_SECONDS = { busy: 2, file: 30 } as const;

export interface Guards {
  /** Runs `work`, which looks up a session, in a slot of the session token and of the network. */
  lookUp<T>(from: { token: string; address: string }, work: () => Promise<T>): Promise<T>;
  /** Runs `work`, which reads and handles a request, in a slot of its person: a slow sender delays no one else. */
  limitPerson<T>(page: Page, visit: Visit, work: () => Promise<T>): Promise<T>;
  /** Runs `work` in a slot of the person's accounts and of all members; without a session, of the network. */
  limitAccount<T>(page: Page, visit: Visit, work: () => Promise<T>): Promise<T>;
  /** Counts a form of the signed-in person. Throws RATE_LIMITED above their limit. */
  countForm(page: Page, visit: Visit, deps: ConsoleDeps): Promise<void>;
  /** Takes a slot for a file until it is closed. Throws RATE_LIMITED if none is free. */
  sendFile(visit: Visit, file: Readable): Promise<void>;
  /** Takes a slot for a stream of changes until `closed` settles. Returns false if none is free. */
  openStream(person: SignedIn, closed: Promise<unknown>): Promise<boolean>;
}

const busy = (): Refusal => refusal('UNAVAILABLE', 'console.busy', RETRY_AFTER_SECONDS.busy);
const tooManyFiles = (): Refusal => refusal('RATE_LIMITED', 'files.too_many', RETRY_AFTER_SECONDS.file);

/** Creates the guards of one process. */
export function createGuards(): Guards {
  const requests = (kind: keyof typeof AT_ONCE): ConcurrencySlots =>
    createConcurrencySlots({ atOnce: AT_ONCE[kind], full: busy });
  const [browsers, networks] = [requests('browser'), requests('network')];
  const [people, accounts, members] = [requests('person'), requests('account'), requests('members')];
  const withoutQueue = (atOnce: number): ConcurrencySlots =>
    createConcurrencySlots({ atOnce, waiting: 0, full: tooManyFiles });
  const files = { people: withoutQueue(FILES.person), accounts: withoutQueue(FILES.account) };
  const streams = {
    people: withoutQueue(STREAMS.person),
    accounts: withoutQueue(STREAMS.account),
    members: withoutQueue(STREAMS.members),
  };

  return {
    lookUp: ({ token, address }, work) => browsers.hold(token, () => networks.hold(networkOf(address), work)),
    limitPerson({ method }, { signedIn: person }, work) {
      return person ? people.hold(`${method} ${person.session.personId}`, work) : work();
    },
    limitAccount({ isSlow }, { signedIn: person, address }, work) {
      if (!person) return networks.hold(networkOf(address), work);
      const { viewer } = person;
      if (viewer.kind !== 'member') return work();
      // One slot for all accounts of a person: waiting for one account must not occupy a slot of another.
      const accountSlot: OwnedSlots = [accounts, (accountsOf(viewer) ?? []).toSorted().join(' ')];
      return holdAll(isSlow ? [accountSlot] : [accountSlot, [members, '']], work);
    },
    async countForm(page, visit, { orm }) {
      if (isForAnyone(page.route) || !(page.counted ?? page.method === 'POST')) return;
      const { personId } = signedIn(visit).session;
      const usage = await countForm(orm.em.fork(), personId, visit.now);
      if (!isExceeded(usage)) return;
      const retryAfterSeconds = secondsUntilReset(usage, visit.now);
      const words = visit.texts.tooManyForms(usage.limit.most, Math.ceil(retryAfterSeconds / 60));
      throw new LocalizedRefusal('RATE_LIMITED', words, { retryAfterSeconds });
    },
    async sendFile(visit, file) {
      const closed = new Promise<void>((resolve) => file.once('close', resolve));
      await takeSlots(slotsOf(signedIn(visit), files), closed).catch((error: unknown) => {
        file.destroy();
        throw error;
      });
    },
    async openStream(person, closed) {
      const slots = slotsOf(person, streams);
      if (person.viewer.kind === 'member') slots.push([streams.members, '']);
      return takeSlots(slots, closed).then(
        () => true,
        () => false,
      );
    },
  };
}

type OwnedSlots = readonly [slots: ConcurrencySlots, owner: string];

/** Returns the slots of a person and their accounts, sorted to prevent deadlocks between people with the same accounts. */
const slotsOf = (
  { session, viewer }: SignedIn,
  { people, accounts }: { people: ConcurrencySlots; accounts: ConcurrencySlots },
): OwnedSlots[] => [
  [people, session.personId],
  ...(accountsOf(viewer) ?? []).toSorted().map((id): OwnedSlots => [accounts, id]),
];

/** Runs `work` in a slot of each owner. */
const holdAll = <T>([first, ...others]: readonly OwnedSlots[], work: () => Promise<T>): Promise<T> =>
  first ? first[0].hold(first[1], () => holdAll(others, work)) : work();

/** Resolves once a slot of each owner is taken; the slots are free again when `closed` settles. */
const takeSlots = (slots: readonly OwnedSlots[], closed: Promise<unknown>): Promise<void> =>
  new Promise((resolve, reject) => {
    holdAll(slots, () => {
      resolve();
      return closed;
    }).catch(reject);
  });

function refusal(code: 'UNAVAILABLE' | 'RATE_LIMITED', fault: string, retryAfterSeconds: number): Refusal {
  const message = 'Too much is in progress for you at the moment.';
  return new Refusal(code, message, { faults: [{ path: '', code: fault, message }], retryAfterSeconds });
}
