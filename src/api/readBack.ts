/**
 * Lets clients PUT an object as they read it: accepts read-only fields whose value is unchanged.
 */
import * as z from 'zod';
import type { BodyRule } from '../domain/requests/bodyRules.ts';
import { faultAt } from '../domain/requests/faults.ts';
import { JsonNumber } from '../domain/values/decimal.ts';
import { invalidInput } from '../errors.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Read-only fields that are not compared: they change with every receipt, or with the calendar. */
const VOLATILE: readonly string[] = ['last_number', 'numbers_left', 'days_left', 'warnings'];

const ABOUT =
  'As it was read: it is not changed here. Left out or unchanged, it is ignored; changed, it is refused (`body.read_only`).';

/** Accepts any value here; `requireUnchanged` compares it with the current object. */
const acceptAnyValue = (field: z.ZodType): z.ZodType =>
  z.unknown().meta({ description: ABOUT, examples: [exampleOf(field)] });

function exampleOf(field: z.ZodType): unknown {
  const [first] = (field.meta()?.['examples'] as unknown[] | undefined) ?? [];
  if (first !== undefined) return first;
  // An incomplete object is enough for an example.
  const simple = ['READY', 'OWNER', false, {}, []].find((value) => field.safeParse(value).success);
  return simple ?? (field.safeParse(null).success ? null : {});
}

const readOnlyNames = (update: z.ZodObject, view: z.ZodObject): string[] =>
  Object.keys(view.shape).filter((name) => !(name in update.shape));

/**
 * Returns the schema of a PUT that also accepts the other fields of `view`, with any value
 * (`requireUnchanged`).
 */
export function withReadOnlyFields<U extends z.ZodObject>(
  update: U,
  view: z.ZodObject,
): z.ZodType<z.output<U> & Fields, z.input<U> & Fields> {
  const fields = readOnlyNames(update, view).map(
    (name) => [name, acceptAnyValue(view.shape[name] as z.ZodType).optional()] as const,
  );
  return update.safeExtend(Object.fromEntries(fields)).meta({ ...update.meta() }) as never;
}

/** Throws INVALID_INPUT when a read-only field in `sent` differs from `current`. */
export function requireUnchanged(sent: Fields, current: Fields): void {
  const faults = Object.keys(current)
    .filter((name) => sent[name] !== undefined && !VOLATILE.includes(name))
    .filter((name) => !isUnchanged(sent[name], current[name]))
    .map((name) => {
      const value = current[name];
      const expected = typeof value === 'object' && value !== null ? '' : ` ${JSON.stringify(value)},`;
      const message = `must be${expected} as it was read; it is not changed here.`;
      return faultAt([name], 'body.read_only' satisfies BodyRule, message);
    });
  if (faults.length > 0) throw invalidInput(faults);
}

/** Returns the fields in `sent` that `view` has but `update` does not write. */
export function readOnlyFieldsIn(sent: Fields, update: z.ZodObject, view: z.ZodObject): string[] {
  return readOnlyNames(update, view).filter((name) => sent[name] !== undefined);
}

/** Whether `sent` equals `current`; fields of objects may be omitted. */
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
