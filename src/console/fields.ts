/** Kinds of form fields: how each is rendered and read. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { REASON_LENGTH } from '../domain/operations/supportAction.ts';
import type { FieldTable, Stored } from '../domain/requests/fields.ts';
import { dateSchema } from '../domain/values/dates.ts';
import { integerSchema, parseTypedInteger } from '../domain/values/decimal.ts';
import { Email } from '../domain/values/email.ts';
import { textSchema } from '../domain/values/text.ts';
import { type Html, html } from '../page/html.ts';
import type { Texts } from '../words/console.ts';
import { signedIn, type Visit } from './page.ts';
import { hidden as hiddenInput } from './parts.ts';

/** What a field is rendered from. */
export interface FieldContext {
  readonly visit: Visit;
  readonly name: string;
  readonly value: string | readonly string[] | undefined;
  /** Values of all fields of the form. */
  readonly values: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: Options | undefined;
  /** Whether this form accepts the field empty. */
  readonly optional: boolean;
  readonly focus: boolean;
  /** Describes what is wrong with the sent value. */
  readonly fault: string | undefined;
}

/** One field of a form. */
export interface Field<T = unknown> {
  /** Undefined for a hidden field. */
  readonly label?: string | undefined;
  readonly schema: z.ZodType<T> | ((visit: Visit) => z.ZodType<T>);
  /** JSON Pointer that the command's faults use for this field; default: `/` and the field's name. */
  readonly path?: string | undefined;
  /** Message for any wrong value; default: the message of the fault's code. */
  readonly wrong?: string;
  /** Whether the hidden value identifies what the form changes. */
  readonly isSubject?: boolean;
  draw(context: FieldContext): Html;
}

/** Values to choose from, with their labels. */
export type Options<V extends string = string> = readonly (readonly [V, string])[];

/** Attributes of an input for browsers. */
interface Attributes {
  readonly type?: 'text' | 'password' | 'email' | 'date' | 'month' | 'datetime-local';
  readonly autocomplete?: string;
  readonly optional?: boolean;
  readonly maxlength?: number;
  readonly inputmode?: 'numeric' | 'text';
  readonly placeholder?: string;
  /** Id of a `datalist` with suggestions. */
  readonly list?: string;
}

interface Typed<T> extends Attributes {
  readonly schema?: z.ZodType<T>;
  readonly path?: string;
  /** Explains the field, below it. */
  readonly hint?: string;
}

const MAX_LENGTH = 200;
const MAX_TYPED = 4_000;
const MAX_SECRET = 1_000;
/** Accepts any text up to a length; the command checks the rest. */
const textUpTo = (maximum: number) =>
  z.string().refine(({ length }) => length <= maximum, { params: { code: 'text.too_long' } });
const AnyText = textUpTo(MAX_TYPED);
const Trimmed = z
  .string()
  .default('')
  .transform((value) => value.trim());

/** A trimmed text; a choice if the page offers options. */
export function text(label: string, typed?: Omit<Typed<string>, 'schema'>): Field<string>;
export function text<T>(label: string, typed: Typed<T> & Required<Pick<Typed<T>, 'schema'>>): Field<T>;
export function text(label: string, typed: Typed<unknown> = {}): Field {
  const { schema = AnyText, path, hint, ...attributes } = typed;
  const maxlength = attributes.maxlength ?? lengthOf(schema) ?? MAX_LENGTH;
  return {
    label,
    schema: Trimmed.pipe(schema as z.ZodType<unknown, string>),
    path,
    draw: (context) =>
      html`${labelled(
        label,
        context,
        context.options
          ? select(context.name, context.options, context.value, faultAttributes(context))
          : input(context, { ...attributes, maxlength }),
      )}${hint && html`<p class="soft">${hint}</p>`}`,
  };
}

const lengthOf = (schema: z.ZodType): number | undefined => {
  const longest = schema.meta()?.['maxLength'];
  return typeof longest === 'number' ? longest : undefined;
};

export const email = (label: string, maxlength = 254): Field<string> =>
  text(label, { schema: Email.max(maxlength), type: 'email', maxlength });

export const day = (label: string): Field<string> => text(label, { schema: dateSchema(), type: 'date' });

export const number = (
  label: string,
  { minimum, maximum, ...more }: { minimum: number; maximum: number } & Omit<Typed<number>, 'schema'>,
): Field<number> =>
  text(label, {
    schema: z.string().transform(parseTypedInteger).pipe(integerSchema({ minimum, maximum })),
    inputmode: 'numeric',
    maxlength: String(maximum).length,
    ...more,
  });

/** The reason for an action, kept in the audit. */
export const reason = (label: string, maxlength = REASON_LENGTH): Field<string> =>
  text(label, { schema: textSchema(maxlength), maxlength });

/** A reason that operators give for an action on a customer's data; customers need none. */
export function operatorsReason({ runs: words }: Texts): Field<string | undefined> {
  const field = reason(words.why);
  const isOperator = (visit: Visit): boolean => signedIn(visit).viewer.kind === 'operator';
  const schema = z
    .string()
    .optional()
    .transform(() => undefined);
  return {
    ...shownIf<string | undefined>(field, ({ visit }) => isOperator(visit)),
    wrong: words.whyMissing,
    schema: (visit) => (isOperator(visit) ? (field.schema as z.ZodType<string>) : schema),
  };
}

/** A password or a code: not trimmed, and never shown again. */
export const secret = (
  label: string,
  { path, ...attributes }: Attributes & { path?: string } = {},
): Field<string> => ({
  label,
  schema: textUpTo(MAX_SECRET).default(''),
  path,
  draw: (context) =>
    labelled(
      label,
      context,
      input(
        { ...context, value: '' },
        { type: 'password', autocomplete: 'new-password', maxlength: MAX_SECRET, ...attributes },
      ),
    ),
});

/** The code of an authenticator app. */
export const appCode = (label: string): Field<string> =>
  secret(label, {
    type: 'text',
    autocomplete: 'one-time-code',
    inputmode: 'numeric',
    maxlength: 7,
  });

/** Returns the field, rendered only if the page or the viewer needs it. */
export const shownIf = <T>(field: Field<T>, isNeeded: (context: FieldContext) => boolean): Field<T> => ({
  ...field,
  draw: (context) => (isNeeded(context) ? field.draw(context) : html``),
});

/** A file; `accept`: types that the browser's dialog shows. */
export const file = (label: string, accept: string, path: string): Field<Uint8Array> => ({
  label,
  schema: z.instanceof(Uint8Array),
  path,
  draw: (context) =>
    labelled(
      label,
      context,
      html`<input
        type="file"
        name="${context.name}"
        accept="${accept}"
        required
        ${faultAttributes(context)}
      />`,
    ),
});

/** One of some values. */
export const choice = <const V extends string>(label: string, options: Options<V>): Field<V> => ({
  label,
  schema: z.enum(options.map(([value]) => value)),
  draw: (context) =>
    labelled(label, context, select(context.name, options, context.value, faultAttributes(context))),
});

const Yes = z.literal('yes').optional();
/** A box to tick. */
export const tick = (label: string): Field<boolean> => ({
  label,
  schema: Yes.transform((value) => value === 'yes'),
  draw: (context) => box(label, context),
});

/** A box that must be ticked to send the form. */
export const confirm = (label: string): Field<'yes'> => ({
  label,
  schema: z.literal('yes'),
  draw: (context) => box(label, context, html`required`),
});

const box = (label: string, { name, value, ...context }: FieldContext, more = html``): Html =>
  html`<label class="field">
      <input
        type="checkbox"
        name="${name}"
        value="yes"
        ${value === 'yes' && html`checked`}
        ${more}
        ${faultAttributes({ name, ...context })}
      />
      ${label}
    </label>
    ${faultLine({ name, ...context })}`;

/** All values of a field: a form sends a single one as a string. */
export const ValueList = z
  .union([z.string(), z.array(z.string()).max(500)])
  .default([])
  .transform((values) => (typeof values === 'string' ? [values] : values));
/** Any of some values, each with a box to tick. */
export const boxes = (label: string, values: readonly string[]): Field<string[]> => ({
  label,
  schema: ValueList,
  draw: (context) =>
    html`<fieldset class="boxes">
      <legend>${label}</legend>
      ${values.map(
        (one) =>
          html`<label>
            <input
              type="checkbox"
              name="${context.name}"
              value="${one}"
              ${context.value?.includes(one) && html`checked`}
            />
            <code>${one}</code>
          </label>`,
      )}
      ${faultLine(context)}
    </fieldset>`,
});

/** Several values of one field, which the page renders itself. */
export const many = (draw: Field['draw'] = () => html``, label?: string): Field<string[]> => ({
  schema: ValueList,
  draw,
  label,
});

/** A hidden field that identifies what the form changes. */
export const subject = <T = string>(schema: z.ZodType<T>): Field<T> => ({
  ...state(schema),
  isSubject: true,
});

/** A hidden field with what the page showed. */
export const state = <T = string>(schema: z.ZodType<T>): Field<T> => ({
  schema,
  draw: ({ name, value }) => (value === undefined ? html`` : hiddenInput(name, String(value))),
});

/** Idempotency key of a form, so that sending it again after a reload does nothing. */
export const onceKey = (): Field<string> => ({
  schema: z.uuid(),
  draw: ({ name }) => hiddenInput(name, randomUUID()),
});

/** Renders a control with its label and its fault. */
const labelled = (label: string, context: Pick<FieldContext, 'name' | 'fault'>, control: Html): Html =>
  html`<label class="field"><span>${label}</span>${control}</label>${faultLine(context)}`;

const faultLine = ({ name, fault }: Pick<FieldContext, 'name' | 'fault'>): Html =>
  html`${fault !== undefined && html`<p class="fault" id="fault-${name}">${fault}</p>`}`;

/** Returns the attributes that mark a control as faulty. */
const faultAttributes = ({ name, fault }: Pick<FieldContext, 'name' | 'fault'>): Html =>
  html`${fault !== undefined && html`aria-invalid="true" aria-describedby="fault-${name}"`}`;

function input(context: FieldContext, { type = 'text', autocomplete = 'off', ...more }: Attributes): Html {
  return html`<input
    name="${context.name}"
    type="${type}"
    value="${String(context.value ?? '')}"
    autocomplete="${autocomplete}"
    maxlength="${more.maxlength ?? MAX_LENGTH}"
    inputmode="${more.inputmode ?? 'text'}"
    ${!more.optional && !context.optional && html`required`}
    ${context.focus && html`autofocus`}
    ${more.placeholder && html`placeholder="${more.placeholder}"`}
    ${more.list && html`list="${more.list}"`}
    ${faultAttributes(context)}
  />`;
}

/** Renders a choice; nothing is selected if `value` is not an option. */
export const select = (name: string, options: Options, value: unknown, attributes = html``): Html =>
  html`<select name="${name}" ${attributes}>
    ${options.map(
      ([one, words]) => html`<option value="${one}" ${one === value && html`selected`}>${words}</option>`,
    )}
  </select>`;

// Fields in a table (domain/requests/fields.ts).

type Labels<T extends FieldTable> = { readonly [C in keyof Stored<T>]: string };

/** Returns a field for each row of a table, for text as typed. `choices`: options of flags and choices. */
export const tableFields = <T extends FieldTable>(
  labels: Labels<T>,
  table: T,
  choices: { readonly [K in keyof T]?: Options } = {},
): { readonly [K in keyof T]: Field<string> } => {
  const attributes = {
    text: {},
    code: { inputmode: 'numeric', maxlength: 4 },
    email: { type: 'email' },
    day: { type: 'date' },
  } as const;
  const fields = Object.entries(table).map(([name, { column, kind, optional }]) => {
    const label = labels[column as keyof Stored<T>];
    if (kind === 'flag' || kind === 'choice') return [name, choice(label, choices[name] ?? [])];
    return [name, text(label, { optional, ...attributes[kind] })];
  });
  return Object.fromEntries(fields) as { [K in keyof T]: Field<string> };
};

/** Returns a stored row as field values; empty for missing ones. */
export const inputsOf = <T extends FieldTable>(
  table: T,
  row: { readonly [C in keyof Stored<T>]?: Stored<T>[C] | undefined },
): { readonly [K in keyof T]: string } =>
  Object.fromEntries(
    Object.entries(table).map(([name, { column }]) => [name, String(row[column as keyof Stored<T>] ?? '')]),
  ) as { [K in keyof T]: string };

/** Returns sent values as a body of the API; null for an emptied optional field. */
export const bodyOfSent = (
  table: FieldTable,
  sent: Readonly<Record<string, unknown>>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, { kind, optional }]): [string, unknown][] => {
      const value = sent[name];
      if (typeof value !== 'string') return [];
      if (kind === 'code') return [[name, parseTypedInteger(value)]];
      if (kind === 'flag') return [[name, value === 'true']];
      return [[name, value === '' && optional ? null : value]];
    }),
  );
