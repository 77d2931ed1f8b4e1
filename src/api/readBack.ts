/** Objects that are written back as they were read: the fields that a PUT does not change are compared, and left. */
import * as z from 'zod';
import type { BodyRule } from '../domain/bodyRules.ts';
import { JsonNumber } from '../domain/decimal.ts';
import { faultAt } from '../domain/faults.ts';
import { invalidInput } from '../errors.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What issuing receipts and the calendar move: it differs between reading and writing back on any busy day. */
const VOLATILE: readonly string[] = ['last_number', 'numbers_left', 'days_left', 'warnings'];

const ABOUT =
  'As it was read: it is not changed here. Left out or unchanged, it is ignored; changed, it is refused (`body.read_only`).';

/** Any value: what it may be is known when the object is read. */
const asRead = (field: z.ZodType): z.ZodType =>
  z.unknown().meta({ description: ABOUT, examples: [exampleOf(field)] });

function exampleOf(field: z.ZodType): unknown {
  const [first] = (field.meta()?.['examples'] as unknown[] | undefined) ?? [];
  if (first !== undefined) return first;
  // Of an object it is enough to send back a part.
  const simple = ['READY', 'OWNER', false, {}, []].find((value) => field.safeParse(value).success);
  return simple ?? (field.safeParse(null).success ? null : {});
}

const readOnlyNames = (update: z.ZodObject, view: z.ZodObject): string[] =>
  Object.keys(view.shape).filter((name) => !(name in update.shape));

/** The schema of a PUT that also takes what else `view` has, whatever its value: `requireUnchanged` judges it. */
export function withReadOnly<U extends z.ZodObject>(
  update: U,
  view: z.ZodObject,
): z.ZodType<z.output<U> & Fields, z.input<U> & Fields> {
  const fields = readOnlyNames(update, view).map(
    (name) => [name, asRead(view.shape[name] as z.ZodType).optional()] as const,
  );
  return update.safeExtend(Object.fromEntries(fields)).meta({ ...update.meta() }) as never;
}

/** Refuses what `sent` has of the read-only fields of `current` with another value (INVALID_INPUT). */
export function requireUnchanged(sent: Fields, current: Fields): void {
  const faults = Object.keys(current)
    .filter((name) => sent[name] !== undefined && !VOLATILE.includes(name))
    .filter((name) => !isUnchanged(sent[name], current[name]))
    .map((name) => {
      const value = current[name];
      const shown = typeof value === 'object' && value !== null ? '' : ` ${JSON.stringify(value)},`;
      const message = `must be${shown} as it was read; it is not changed here.`;
      return faultAt([name], 'body.read_only' satisfies BodyRule, message);
    });
  if (faults.length > 0) throw invalidInput(faults);
}

/** What `sent` has of the fields of `view` that `update` does not write. */
export function readOnlyIn(sent: Fields, update: z.ZodObject, view: z.ZodObject): string[] {
  return readOnlyNames(update, view).filter((name) => sent[name] !== undefined);
}

/** Whether what was sent says nothing else than `current`; a field of an object may be left out. */
function isUnchanged(sent: unknown, current: unknown): boolean {
  if (sent instanceof JsonNumber) return Number(sent.text) === current;
  if (Array.isArray(sent)) {
    return (
      Array.isArray(current) &&
      sent.length === current.length &&
      sent.every((one, i) => isUnchanged(one, current[i]))
    );
  }
  if (typeof sent !== 'object' || sent === null) return sent === current;
  if (typeof current !== 'object' || current === null || Array.isArray(current)) return false;
  return Object.entries(sent).every(
    ([name, value]) =>
      Object.hasOwn(current, name) &&
      (VOLATILE.includes(name) || isUnchanged(value, (current as Fields)[name])),
  );
}
