import { webcrypto } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** A file that was expensive to create. */
export interface MadeFile {
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, in hex. */
  readonly sha256: string;
}

/** Identifies a file: equal keys mean equal files. `accountId` is charged for the memory. */
export interface FileKey {
  readonly key: string;
  readonly accountId: string;
}

/** Caches the last files in memory, and creates a file once for concurrent requests. */
export interface FileCache {
  /** Returns the file if cached. */
  kept(of: FileKey): MadeFile | undefined;
  /** Returns the cached file, or the one from `make`. */
  file(of: FileKey, make: () => Promise<Uint8Array>): Promise<MadeFile>;
}

/** Returns the SHA-256 of a file, in hex; computed off the event loop because files may have megabytes. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = await webcrypto.subtle.digest('SHA-256', bytes);
  return Buffer.from(hash).toString('hex');
}

/** Share of the memory for the files of one account. */
const SHARE = 1 / 4;

/** Creates a cache of at most `mostBytes`, which drops the least recently used files. */
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
    // A caller that waits gets its file even if it was evicted meanwhile.
    ignoreFetchAbort: true,
  });

  /** Removes an account's oldest files until it is within its share; other accounts lose nothing. */
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
