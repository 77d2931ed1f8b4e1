/**
 * Opens .p12 files (PKCS#12; docs/contract.md#certificate). A file itself decides the cost of opening it, so each file is
 * opened in its own thread with a time limit, one at a time per owner.
 */
import { Worker } from 'node:worker_threads';
import { createFairQueue } from './fairQueue.ts';
import type { Identity, OpenedPkcs12 } from './pkcs12Identity.ts';

export type { Identity, Pkcs12Failure } from './pkcs12Identity.ts';

/** Files with a key and a chain of certificates have 2 to 10 KiB. */
const MOST_BYTES = 64 * 1024;
/** Limits CPU time, so that a busy machine refuses no valid file. The rounds that pkcs12Container.ts allows take less. */
const MOST_SECONDS = 3;
const LOOK_EVERY_MS = 100;
/** Each thread may use a core. Twelve waiting files are at most 18 s of work. */
const queue = createFairQueue({
  atOnce: 2,
  waiting: 12,
  waitingPerOwner: 4,
  retryAfterSeconds: MOST_SECONDS,
  full: 'Too many files are being opened; try again in a few seconds.',
});

/** Disposing overwrites the private key with zeros. */
export type OwnedIdentity = Identity & Disposable;

/** The identity in a .p12 file, or the reason for not opening it. */
export type OpenedFile =
  | { readonly ok: true; readonly identity: OwnedIdentity }
  | Extract<OpenedPkcs12, { ok: false }>;

/**
 * Opens a .p12 (pkcs12Identity.ts) for `owner` (an id), one file at a time. The caller must check dates and key length.
 * Throws UNAVAILABLE when too many wait.
 */
export async function openPkcs12(file: Uint8Array, password: string, owner: string): Promise<OpenedFile> {
  if (file.length > MOST_BYTES) return { ok: false, reason: 'not_pkcs12' };
  const opened = await queue.run(owner, () => openInThread(file, password));
  if (!opened.ok) return opened;
  const { identity } = opened;
  // A thread returns plain arrays.
  const { buffer, byteOffset, byteLength } = identity.privateKeyDer;
  const privateKeyDer = Buffer.from(buffer, byteOffset, byteLength);
  return {
    ok: true,
    identity: {
      ...identity,
      privateKeyDer,
      certificateDer: Buffer.from(identity.certificateDer),
      [Symbol.dispose]: () => void privateKeyDer.fill(0),
    },
  };
}

async function openInThread(file: Uint8Array, password: string): Promise<OpenedPkcs12> {
  const worker = new Worker(new URL('./pkcs12Worker.ts', import.meta.url), {
    workerData: { file, password },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  const { promise, resolve } = Promise.withResolvers<OpenedPkcs12>();
  const look = async (): Promise<void> => {
    try {
      const { user, system } = await worker.cpuUsage();
      if (user + system > MOST_SECONDS * 1e6) resolve({ ok: false, reason: 'too_costly' });
    } catch {
      // The thread has not started or has ended.
    }
  };
  const watching = setInterval(() => void look(), LOOK_EVERY_MS);
  worker.once('message', resolve);
  // A file that exhausts the thread's memory or crashes forge is unusable.
  worker.once('error', () => resolve({ ok: false, reason: 'not_pkcs12' }));
  try {
    return await promise;
  } finally {
    clearInterval(watching);
    await worker.terminate();
  }
}
