import { webcrypto } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** A file that took work to make. */
export interface MadeFile {
  readonly bytes: Uint8Array;
  /** Of its bytes, in hex. */
  readonly sha256: string;
}

/** What a file is made from: equal keys give the same file. `accountId`: whose memory it takes. */
export interface FileKey {
  readonly key: string;
  readonly accountId: string;
}

/** Files in memory: the last ones are kept, and what several ask for at once is made once. */
export interface FileCache {
  /** The file, if it is kept. */
  kept(of: FileKey): MadeFile | undefined;
  /** The file that is kept, or that `make` returns. */
  file(of: FileKey, make: () => Promise<Uint8Array>): Promise<MadeFile>;
}

/** The SHA-256 of a file, in hex; not computed on the event loop, since a file may have megabytes. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = await webcrypto.subtle.digest('SHA-256', bytes);
  return Buffer.from(hash).toString('hex');
}

/** Part of the memory that the files of one account may take. */
const SHARE = 1 / 4;

/** Keeps files of `mostBytes` in all, those that were asked for last. */
export function createFileCache(mostBytes: number): FileCache {
  const share = Math.floor(mostBytes * SHARE);
  const files = new LRUCache<
    string,
    MadeFile & { accountId: string },
    { accountId: string; make: () => Promise<Uint8Array> }
  >({
    maxSize: mostBytes,
    maxEntrySize: share,
    sizeCalculation: ({ bytes }) => bytes.length,
    fetchMethod: async (_key, _stale, { context: { accountId, make } }) => {
      const bytes = await make();
      const sha256 = await sha256Of(bytes);
      makeRoom(accountId, bytes.length);
      return { bytes, sha256, accountId };
    },
    // Whoever waits for a file gets it, though its place went to others meanwhile.
    ignoreFetchAbort: true,
  });

  /** Removes the oldest of an account until there is room within its share: it drives out no other. */
  function makeRoom(accountId: string, wanted: number): void {
    const its = [...files.rkeys()].flatMap((key) => {
      const file = files.peek(key);
      return file?.accountId === accountId ? [{ key, size: file.bytes.length }] : [];
    });
    let bytes = its.reduce((sum, { size }) => sum + size, wanted);
    for (const { key, size } of its) {
      if (bytes <= share) return;
      files.delete(key);
      bytes -= size;
    }
  }

  return {
    kept: ({ key }) => files.get(key),
    file: ({ key, accountId }, make) => files.forceFetch(key, { context: { accountId, make } }),
  };
}
