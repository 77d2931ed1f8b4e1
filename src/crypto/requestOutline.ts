/**
 * What is kept of a request beside its hash, so that another request with its Idempotency-Key can be told where it
 * differs: the names of its fields, and in place of each value a short keyed hash of it.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '../domain/canonicalJson.ts';
import { JsonNumber } from '../domain/decimal.ts';

/** The shape of a JSON value with a tag for each string, number and word. */
type Shape = string | readonly Shape[] | { readonly [name: string]: Shape };

export interface RequestOutline {
  /** The same for every request of that method and path, under one pepper. */
  readonly check: string;
  readonly body: Shape;
}

/** 24 bits: enough to find a difference, too few to tell a value from others. */
const TAG_LENGTH = 4;

/** Where a value stands: a JSON Pointer (RFC 6901). */
const within = (pointer: string, name: string | number): string =>
  `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

const tagOf = (key: string, pointer: string, leaf: string): string =>
  hash('sha256', `${key}\0${pointer}\0${leaf}`, 'base64url').slice(0, TAG_LENGTH);

const isLeaf = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || value instanceof JsonNumber;

/** The outline of a body as `readJson` reads it; `key` is a secret that follows from method and path. */
export function outlineRequest(body: unknown, key: string): RequestOutline {
  const shapeOf = (value: unknown, pointer: string): Shape => {
    if (isLeaf(value)) return tagOf(key, pointer, canonicalJson(value));
    if (Array.isArray(value)) return value.map((part, i) => shapeOf(part, within(pointer, i)));
    const fields = Object.entries(value as object);
    return Object.fromEntries(fields.map(([name, part]) => [name, shapeOf(part, within(pointer, name))]));
  };
  return { check: tagOf(key, '', ''), body: shapeOf(body, '') };
}

/**
 * The JSON Pointer of the first difference of a body, in its own order, from the request that an outline is of; what it
 * lacks comes after what it has. Empty where none is found (tags are short); null where the outline is of another method
 * or path.
 */
export function findFirstDifference(
  { check, body: kept }: RequestOutline,
  body: unknown,
  key: string,
): string | null {
  const differs = (shape: Shape | undefined, value: unknown, pointer: string): string | null => {
    if (shape === undefined || value === undefined) return pointer;
    if (isLeaf(value)) return shape === tagOf(key, pointer, canonicalJson(value)) ? null : pointer;
    if (typeof shape === 'string' || Array.isArray(shape) !== Array.isArray(value)) return pointer;
    const [was, is] = [new Map(Object.entries(shape)), new Map(Object.entries(value as object))];
    for (const name of new Set([...is.keys(), ...was.keys()])) {
      const found = differs(was.get(name), is.get(name), within(pointer, name));
      if (found !== null) return found;
    }
    return null;
  };
  return check === tagOf(key, '', '') ? (differs(kept, body, '') ?? '') : null;
}
