/** Keyed hashes of request bodies, by which a repeated Idempotency-Key is held against its first request. */
import { createHmac } from 'node:crypto';

/** Keeps these hashes apart from whatever else the pepper may hash. */
const LABEL = 'cfe request\0';

/** The hash of one request: what it asks for (method and path) and its body byte for byte. */
export type RequestHash = (request: { method: string; path: string; body: Uint8Array }) => Buffer;

/**
 * HMAC-SHA-256 under `pepper`, 32 bytes that are not in the database: bodies may hold passwords, and a stolen table
 * must not let them be guessed.
 */
export function createRequestHash(pepper: Uint8Array): RequestHash {
  return ({ method, path, body }) =>
    createHmac('sha256', pepper).update(LABEL).update(`${method} ${path}\0`).update(body).digest();
}
