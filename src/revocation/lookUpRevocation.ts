/** Looks up whether certificates are revoked, in a thread with a time limit; remembers judgements while they hold. */
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { createFairQueue } from '../crypto/fairQueue.ts';
import type { Issued, LookUpRevocation, RevocationState } from '../crypto/revocation.ts';
import type { RevocationAnswer, RevocationTask } from './revocationWorker.ts';

/** Longest and shortest time that a judgement is remembered, whatever its `nextUpdate`. */
const LONGEST_MILLISECONDS = 12 * 3_600_000;
const SHORTEST_MILLISECONDS = 300_000;
const MOST_REMEMBERED = 10_000;
/** For one upload, its intermediates included; each further certificate of a batch adds little. */
const PATIENCE_MILLISECONDS = 10_000;
const PER_CERTIFICATE_MILLISECONDS = 500;

const keyOf = ({ certificate, issuer }: Issued): string =>
  createHash('sha256').update(certificate).update(issuer).digest('base64');

/**
 * Creates the look-up, with a cache and a queue of its own. `localServers`: servers of this machine may be asked
 * (development).
 */
export function createRevocationLookUp({ localServers }: { localServers: boolean }): LookUpRevocation {
  const remembered = new LRUCache<string, RevocationState>({ max: MOST_REMEMBERED });
  const queue = createFairQueue({
    atOnce: 2,
    waiting: 12,
    waitingPerOwner: 1,
    retryAfterSeconds: PATIENCE_MILLISECONDS / 1_000,
    full: 'Too many certificates are being looked up.',
  });

  async function ask(asked: readonly Issued[]): Promise<void> {
    const worker = new Worker(new URL('./revocationWorker.ts', import.meta.url), {
      workerData: { asked, localServers } satisfies RevocationTask,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, PATIENCE_MILLISECONDS + asked.length * PER_CERTIFICATE_MILLISECONDS);
    worker.on('message', ({ index, judgement }: RevocationAnswer) => {
      const one = asked[index];
      if (one) remember(one, judgement);
    });
    // A list that exhausts the thread's memory leaves the rest unknown.
    worker.once('error', () => resolve());
    worker.once('exit', () => resolve());
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      await worker.terminate();
    }
  }

  function remember(one: Issued, judgement: RevocationAnswer['judgement']): void {
    const holds = (judgement?.nextUpdate?.getTime() ?? 0) - Date.now();
    const ttl = Math.min(Math.max(holds, SHORTEST_MILLISECONDS), LONGEST_MILLISECONDS);
    const state = judgement === undefined ? 'unknown' : judgement.revoked ? 'revoked' : 'good';
    remembered.set(keyOf(one), state, { ttl });
  }

  function stateOf(chain: readonly Issued[]): RevocationState {
    const states = chain.map((one) => remembered.get(keyOf(one)) ?? 'unknown');
    return states.includes('revoked') ? 'revoked' : (states[0] ?? 'unknown');
  }

  return async (chains, owner) => {
    const unknown = new Map(
      chains
        .flat()
        .filter((one) => !remembered.has(keyOf(one)))
        .map((one) => [keyOf(one), one]),
    );
    if (unknown.size > 0) {
      // A full queue leaves them unknown, too; the daily look asks again.
      await queue.run(owner, () => ask([...unknown.values()])).catch(() => undefined);
    }
    return chains.map(stateOf);
  };
}
