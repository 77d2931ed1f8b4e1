/**
 * Outline of a request: field names, and a short keyed hash for each value. Stored to show where a later request with the
 * same Idempotency-Key differs.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../domain/values/canonicalJson.ts';
import { JsonNumber } from '../domain/values/decimal.ts';

/** A JSON value with a tag for each string, number and literal. */
type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

export interface RequestOutline {
  /** Equal for all requests with the same method and path, under one pepper. */
  readonly check: string;
  readonly body: Shape;
}

/** 24 bits: enough to find a difference, too few to identify a value. */
const TAG_LENGTH = 4;

/** Appends a name to a JSON Pointer (RFC 6901). */
const appendPointer = (pointer: string, name: string | number): string =>
  `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

const tagOf = (key: string, pointer: string, leaf: string): string =>
  hash('sha256', `${key}\0${pointer}\0${leaf}`, 'base64url').slice(0, TAG_LENGTH);

const isLeaf = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || value instanceof JsonNumber;

/** Returns the outline of a body from `readJson`. `key`: a secret derived from method and path. */
export function outlineRequest(body: unknown, key: string): RequestOutline {
  const shapeOf = (value: unknown, pointer: string): Shape => {
    if (isLeaf(value)) return tagOf(key, pointer, canonicalJson(value));
    if (Array.isArray(value)) return value.map((part, i) => shapeOf(part, appendPointer(pointer, i)));
    const fields = Object.entries(value as object);
    return Object.fromEntries(
      fields.map(([name, part]) => [name, shapeOf(part, appendPointer(pointer, name))]),
    );
  };
  return { check: tagOf(key, '', ''), body: shapeOf(body, '') };
}

/**
 * Returns the JSON Pointer of the first difference between a body and an outline, in the order of the body; fields that
 * the body lacks come last. '' without a difference (short tags may collide); null for another method or path.
 */
export function findFirstDifference(
  { check, body: outlined }: RequestOutline,
  body: unknown,
  key: string,
): string | null {
  const findIn = (shape: Shape | undefined, value: unknown, pointer: string): string | null => {
    if (shape === undefined || value === undefined) return pointer;
    if (isLeaf(value)) return shape === tagOf(key, pointer, canonicalJson(value)) ? null : pointer;
    if (typeof shape === 'string' || Array.isArray(shape) !== Array.isArray(value)) return pointer;
    const [before, after] = [new Map(Object.entries(shape)), new Map(Object.entries(value as object))];
    for (const name of new Set([...after.keys(), ...before.keys()])) {
      const difference = findIn(before.get(name), after.get(name), appendPointer(pointer, name));
      if (difference !== null) return difference;
    }
    return null;
  };
  return check === tagOf(key, '', '') ? (findIn(outlined, body, '') ?? '') : null;
}
