import type { RequestHash } from '../../crypto/requestHash.ts';
import { findFirstDifference, outlineRequest } from '../../crypto/requestOutline.ts';
import { canonicalJson } from '../../domain/values/canonicalJson.ts';
import { readJson } from '../../domain/values/json.ts';
import type { ComparableKey } from './runOnce.ts';

/** 1 to 255 printable ASCII characters. */
export const IDEMPOTENCY_KEY_TEXT = /^[\x20-\x7e]{1,255}$/;

/** Returns an Idempotency-Key with the keyed hash of its request's content (`json`: the body as `readJson` reads it). */
export function comparableKey(
  key: string,
  { method, path, hashOf, ...asked }: { method: string; path: string; json: unknown; hashOf: RequestHash },
): ComparableKey {
  const json = parseExtra(asked.json);
  const body = Buffer.from(canonicalJson(json), 'utf8');
  // `like` is a stored hash; a hash under an older pepper is compared under that pepper.
  const outlineKey = (like?: Uint8Array) =>
    hashOf({ method, path, body: OUTLINE }, like).toString('base64url');
  return {
    key,
    hash: hashOf({ method, path, body }),
    outline: () => outlineRequest(json, outlineKey()),
    isSame: (stored) => hashOf({ method, path, body }, stored).equals(stored),
    differsAt: ({ hash, outline }) => findFirstDifference(outline, json, outlineKey(hash)),
  };
}

/** Parses `extra`, which is JSON inside a string, so that its formatting does not count. */
function parseExtra(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || !('extra' in json) || typeof json.extra !== 'string')
    return json;
  const extra = readJson(json.extra);
  return extra.ok ? { ...json, extra: extra.value } : json;
}

/** Derives the key of outlines; no JSON body can equal it. */
const OUTLINE = Buffer.from('outline');
