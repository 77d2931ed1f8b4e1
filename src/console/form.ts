/** Forms: one declaration renders a form, reads it, runs its command and shows each fault at its field. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { checkInput } from '../domain/requests/faults.ts';
import { type Fault, invalidInput, Refusal } from '../errors.ts';
import { type Html, html } from '../page/html.ts';
import type { Texts } from '../words/console.ts';
import { isForAnyone, type PageRoute } from './access/permissions.ts';
import type { Field } from './fields.ts';
import { link } from './links.ts';
import {
  type Answer,
  type ConsoleDeps,
  definePage,
  FieldRefusal,
  LocalizedRefusal,
  type Page,
  type ParamSchemas,
  type ParamsOf,
  redirect,
  type Sent,
  type Visit,
  withActor,
} from './page.ts';
import { button, panel, renderForm } from './parts.ts';

/** Limit of bytes of a form with files; the API's is the same, of the file as base64, a third larger. */
const FILE_BYTES = 128 * 1024;
/** Number of faults that fit in the message of a form. */
const MAX_SHOWN_FAULTS = 4;

export type FormRoute = Extract<PageRoute, `POST ${string}`>;
export type Fields = Readonly<Record<string, Field>>;
type Values<F extends Fields> = { readonly [N in keyof F]: F[N] extends Field<infer T> ? T : never };
type ByField<F extends Fields, T> = { readonly [N in keyof F]?: T };

/** How a form is rendered: one line with its button, folded under its title, in a panel, or alone. */
type Look = 'inline' | 'folded' | 'panel' | 'plain';

/** Texts of a form, in one language. */
interface Words {
  readonly title?: string | undefined;
  readonly about?: string | Html | undefined;
  /** Text of the button; default: the title. */
  readonly submit?: string | undefined;
  readonly isQuiet?: boolean;
  /** Message after the command succeeds. */
  readonly done?: string | undefined;
}

/** What a page gives a form to render it. */
interface Drawing<F extends Fields> extends Omit<Words, 'done'> {
  readonly as?: Look;
  readonly values?: ByField<F, string | readonly string[] | undefined>;
  /** Choices known only to the page. */
  readonly options?: ByField<F, readonly (readonly [string, string])[]>;
  /** Query of the address that the form is sent to. */
  readonly query?: Readonly<Record<string, string>>;
  /** Markup before a field. */
  readonly before?: ByField<F, Html>;
  /** Fields that may be left empty here. */
  readonly optional?: readonly (keyof F & string)[];
  /** The field with the focus. */
  readonly focus?: keyof F & string;
  /** Markup next to the button. */
  readonly beside?: Html;
  /** Tells apart several folded forms with the same title, for screen readers. */
  readonly subjectName?: string;
  /** What the button does, for screen readers; default: the button's text. */
  readonly label?: string;
}

interface Request<R extends string, F extends Fields> {
  readonly params: ParamsOf<R>;
  /** Path of the page to open next. */
  readonly query: { readonly to?: string | undefined };
  readonly form: Values<F>;
  readonly visit: Visit;
}

export interface Declaration<R extends FormRoute, F extends Fields, S> {
  /** Default look. */
  readonly as?: Look;
  readonly params?: ParamSchemas<R>;
  readonly query?: z.ZodType<{ readonly to?: string | undefined }>;
  readonly hasFile?: boolean;
  readonly isSlow?: boolean;
  /** Whether the command runs on the business clock instead of the session clock. */
  readonly onBusinessClock?: boolean;
  readonly words?: (texts: Texts) => Words;
  readonly fields?: (texts: Texts) => F;
  /** Returns what the form changes. Throws NOT_FOUND or FORBIDDEN if the viewer may not change it. */
  readonly find?: (request: Request<R, F>, deps: ConsoleDeps) => S | Promise<S>;
  /** Runs the command; then the page of `back` shows the text `done`. */
  readonly command?: (request: Request<R, F> & { target: S }, deps: ConsoleDeps) => Promise<unknown>;
  /** Runs the command of a form without `done`. Returns the message for the page of `back`, or another answer. */
  readonly run?: (request: Request<R, F> & { target: S }, deps: ConsoleDeps) => Promise<string | Answer>;
  /** Returns the form's own message for an error; undefined for the usual one. */
  readonly refused?: (texts: Texts, refusal: Refusal) => string | undefined;
  /** Returns the path of the page to open after the form. */
  readonly back?: (request: { params: ParamsOf<R>; sent: Sent; visit: Visit }) => string;
}

/** A form, as pages use it. */
export interface Form<R extends FormRoute, F extends Fields> extends Page {
  readonly route: R;
  draw(visit: Visit, params: ParamsOf<R>, drawing?: Drawing<F>): Html;
  /** Renders some of its fields without the form, for a list's ticked rows. */
  inputs(visit: Visit, names: readonly (keyof F & string)[], drawing?: Drawing<F>): Html;
}

/** Defines the form of a route. */
// biome-ignore lint/complexity/noBannedTypes: a form without fields
export function defineForm<R extends FormRoute, F extends Fields = {}, S = undefined>(
  route: R,
  declaration: Declaration<R, F, S>,
): Form<R, F> {
  const localizedForms = new Map<Texts, LocalizedForm<F>>();
  const definition: Definition<R, F, S> = {
    ...declaration,
    route,
    localize(texts) {
      const { words, fields } = declaration;
      const localized = localizedForms.get(texts) ?? {
        ...words?.(texts),
        fields: fields?.(texts) ?? ({} as F),
      };
      localizedForms.set(texts, localized);
      return localized;
    },
  };
  const { params, query = z.object({}), isSlow = false, hasFile, back } = declaration;
  const page = definePage({
    // Logs and metrics name a form by its path.
    name: route.slice('POST '.length),
    route,
    query,
    form: z.record(z.string(), z.unknown()),
    isSlow,
    ...(params ? { params } : {}),
    ...(hasFile ? { fileBytes: FILE_BYTES } : {}),
    ...(back ? { back } : {}),
    handle: ({ form, ...request }, deps) => runForm(definition, { ...request, sent: form }, deps),
  });
  return {
    ...page,
    route,
    draw: (visit, params, drawing = {}) => drawForm(definition, visit, params, drawing),
    inputs: (visit, names, drawing) =>
      html`${drawInputs(definition.localize(visit.texts), visit, names, drawing)}`,
  };
}

type LocalizedForm<F extends Fields> = Words & { readonly fields: F };

interface Definition<R extends FormRoute, F extends Fields, S> extends Declaration<R, F, S> {
  readonly route: R;
  readonly localize: (texts: Texts) => LocalizedForm<F>;
}

/** Reads a sent form and runs its command. Throws a refusal with each fault at its field. */
async function runForm<R extends FormRoute, F extends Fields, S>(
  { route, localize, find, run, command, refused, back, onBusinessClock }: Definition<R, F, S>,
  { sent, ...request }: Omit<Request<R, F>, 'form'> & { sent: Readonly<Record<string, unknown>> },
  deps: ConsoleDeps,
): Promise<Answer> {
  const { params, visit } = request;
  const { fields, done = '' } = localize(visit.texts);
  try {
    const formRequest = { ...request, form: readFields(fields, sent, visit) };
    // A form for anyone is not an act of the person who happens to be signed in.
    const actorDeps = !isForAnyone(route)
      ? withActor(onBusinessClock ? { ...deps, clock: deps.businessClock } : deps, visit)
      : { ...deps, origin: { keyId: null, address: visit.address } };
    // Without `find`, S is undefined.
    const input = { ...formRequest, target: (await find?.(formRequest, actorDeps)) as S };
    await command?.(input, actorDeps);
    const result = run ? await run(input, actorDeps) : done;
    if (typeof result !== 'string') return result;
    return redirect(back?.({ params, sent: sent as Sent, visit }) ?? '/', { kind: 'done', text: result });
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof LocalizedRefusal) throw error;
    const message = refused?.(visit.texts, error);
    if (message !== undefined) throw new LocalizedRefusal(error.code, message, { cause: error });
    throw atFields(error, fields, visit.texts, formIdOf(actionOf(route, params), fields, sent));
  }
}

function drawForm<R extends FormRoute, F extends Fields, S>(
  { route, localize, hasFile = false, ...declaration }: Definition<R, F, S>,
  visit: Visit,
  params: ParamsOf<R>,
  drawing: Drawing<F>,
): Html {
  const { as = declaration.as ?? 'plain', beside, subjectName, label } = drawing;
  const localized = { ...localize(visit.texts), ...drawing };
  const { title = '', about, submit = title, isQuiet, fields } = localized;
  const action = actionOf(route, params);
  const id = formIdOf(action, fields, drawing.values ?? {});
  const faults = visit.flash?.at?.form === id ? visit.flash.at.faults : {};
  const submitButton = button(submit, isQuiet ? 'quiet' : 'main', label);
  const content = [
    typeof about === 'string' && about !== '' ? html`<p>${about}</p>` : html`${about}`,
    ...drawInputs(localized, visit, Object.keys(fields), drawing, faults),
    beside ? html`<div class="buttons">${submitButton}${beside}</div>` : submitButton,
  ];
  const kind = as === 'inline' ? 'inline' : '';
  const rendered = renderForm(visit, link(action, drawing.query), content, kind, { id, hasFile });
  if (as === 'panel') return panel(title, rendered);
  if (as !== 'folded') return rendered;
  return fold(title, rendered, { subjectName, isOpen: Object.keys(faults).length > 0 });
}

function drawInputs(
  { fields }: LocalizedForm<Fields>,
  visit: Visit,
  names: readonly string[],
  { values = {}, options = {}, before = {}, optional = [], focus }: Drawing<Fields> = {},
  faults: Readonly<Record<string, string>> = {},
): Html[] {
  return names.flatMap((name) => {
    const context = { visit, name, values, value: values[name], options: options[name], fault: faults[name] };
    const isOptional = optional.includes(name);
    const input = fields[name]?.draw({ ...context, optional: isOptional, focus: focus === name });
    return input ? [html`${before[name]}${input}`] : [];
  });
}

/** Returns the texts of a form by their keys: `annul`, `annulAbout`, `annulSubmit` and `annulDone`. */
export function formWords<W extends object>(words: W, key: keyof W & string): Words {
  const textAt = (name: string): string | undefined => {
    const text: unknown = Object.hasOwn(words, name) ? words[name as keyof W] : undefined;
    return typeof text === 'string' ? text : undefined;
  };
  const [title, about, submit, done] = [key, `${key}About`, `${key}Submit`, `${key}Done`].map(textAt);
  return { title, about, submit, done };
}

/** Renders content that opens on click. */
export function fold(
  title: string,
  content: Html,
  { subjectName, isOpen = false }: { subjectName?: string | undefined; isOpen?: boolean } = {},
): Html {
  const label = subjectName !== undefined && html`aria-label="${title} ${subjectName}"`;
  const summary = html`<summary ${label}>${title}</summary>`;
  return html`<details class="act" ${isOpen && html`open`}>${summary}${content}</details>`;
}

const actionOf = (route: string, params: Readonly<Record<string, unknown>>): string =>
  route.slice('POST '.length).replace(/\{(\w+)\}/g, (_, one: string) => String(params[one]));

/** Returns the HTML id of a form, which depends only on its address and on what it changes. */
function formIdOf(action: string, fields: Fields, values: Readonly<Record<string, unknown>>): string {
  const subjects = Object.keys(fields).filter((name) => fields[name]?.isSubject);
  const text = JSON.stringify([action, ...subjects.map((name) => values[name] ?? '')]);
  return `form-${createHash('sha256').update(text).digest('base64url').slice(0, 12)}`;
}

/** Returns the values of the fields. Throws INVALID_INPUT with all faults. */
function readFields<F extends Fields>(fields: F, sent: unknown, visit: Visit): Values<F> {
  const schemas = Object.entries(fields).map(([name, { schema }]) => [
    name,
    typeof schema === 'function' ? schema(visit) : schema,
  ]);
  const checked = checkInput(z.strictObject(Object.fromEntries(schemas)), sent);
  if (!checked.ok) throw invalidInput(checked.faults);
  return checked.value as Values<F>;
}

/** Returns an error in the reader's language, with each fault at its field; the same error if no fault is known. */
function atFields(error: Refusal, fields: Fields, texts: Texts, form: string): Refusal {
  const { more } = texts.enterprises;
  const shown = error.faults.slice(0, MAX_SHOWN_FAULTS).flatMap((fault) => {
    const name = fieldNameOf(fields, fault);
    const words = describeFault(texts, name === undefined ? undefined : fields[name], fault.code);
    return words ? [{ name, ...words }] : [];
  });
  if (shown.length === 0) return error;
  const left = error.faults.length - MAX_SHOWN_FAULTS;
  const sentences = [...shown.map(({ sentence }) => sentence), ...(left > 0 ? [more(left)] : [])];
  const byField = shown.flatMap(({ name, short }) => (name === undefined ? [] : [[name, short] as const]));
  // Of several faults of a field, the first one is shown there.
  const faults = Object.fromEntries(byField.toReversed());
  return new FieldRefusal(error, sentences.join(' '), { form, faults });
}

/** Returns the name of the visible field to which a fault of the form or of its command belongs. */
const fieldNameOf = (fields: Fields, { path }: Fault): string | undefined =>
  Object.entries(fields).find(
    ([name, { label, path: fieldPath = `/${name}` }]) =>
      label !== undefined && (path === `/${name}` || path === fieldPath || path.startsWith(`${fieldPath}/`)),
  )?.[0];

/** Describes a fault for the form's message (`sentence`) and next to its field (`short`). Null for an unknown code. */
function describeFault(
  texts: Texts,
  field: Field | undefined,
  code: string,
): { sentence: string; short: string } | null {
  const { enterprises: words } = texts;
  const label = field?.label;
  const sentence = field?.wrong ?? ownValue(words.faults, code) ?? ownValue(texts.faults, code);
  if (sentence !== undefined) return { sentence, short: sentence };
  const fieldFault = ownValue(words.fieldFaults, code);
  if (label === undefined && fieldFault === undefined) return null;
  const what = fieldFault ?? words.wrong;
  return {
    sentence: `${label ?? words.value}: ${what}.`,
    short: `${what.charAt(0).toUpperCase()}${what.slice(1)}.`,
  };
}

const ownValue = (texts: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;
