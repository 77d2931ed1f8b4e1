import { webcrypto } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** A file that is expensive to create. */
export interface CachedFile {
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
  kept(key: FileKey): CachedFile | undefined;
  /** Returns the cached file, or caches and returns the result of `create`. */
  file(key: FileKey, create: () => Promise<Uint8Array>): Promise<CachedFile>;
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
    CachedFile & { accountId: string },
    { accountId: string; create: () => Promise<Uint8Array> }
  >({
    maxSize: mostBytes,
    maxEntrySize: share,
    sizeCalculation: ({ bytes }) => bytes.length,
    fetchMethod: async (_key, _stale, { context: { accountId, create } }) => {
      const bytes = await create();
      const sha256 = await sha256Of(bytes);
      makeRoom(accountId, bytes.length);
      return { bytes, sha256, accountId };
    },
    // A caller that waits gets its file even if it was evicted meanwhile.
    ignoreFetchAbort: true,
  });

  /** Removes an account's oldest files until it is within its share; other accounts lose nothing. */
  function makeRoom(accountId: string, wanted: number): void {
    const ownFiles = [...files.rkeys()].flatMap((key) => {
      const file = files.peek(key);
      return file?.accountId === accountId ? [{ key, size: file.bytes.length }] : [];
    });
    let bytes = ownFiles.reduce((sum, { size }) => sum + size, wanted);
    for (const { key, size } of ownFiles) {
      if (bytes <= share) return;
      files.delete(key);
      bytes -= size;
    }
  }

  return {
    kept: ({ key }) => files.get(key),
    file: ({ key, accountId }, create) => files.forceFetch(key, { context: { accountId, create } }),
  };
}
