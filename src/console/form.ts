/** Forms: one declaration from which a form is drawn and read, its errors stand at their fields, and its command runs. */
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
import { button, panel, form as renderForm } from './parts.ts';

/** Limit of bytes of a form with files: as base64, as the API takes files, they are a third longer. */
const FILE_BYTES = 128 * 1024;
/** More faults would not fit in the message of a form. */
const MAX_SHOWN_FAULTS = 4;

export type FormRoute = Extract<PageRoute, `POST ${string}`>;
export type Fields = Readonly<Record<string, Field>>;
type Values<F extends Fields> = { readonly [N in keyof F]: F[N] extends Field<infer T> ? T : never };
type ByField<F extends Fields, T> = { readonly [N in keyof F]?: T };

/** How a form is drawn: its button in a row, folded under its title, in a panel, or as it is. */
type Look = 'inline' | 'folded' | 'panel' | 'plain';

/** Words of a form, in one language. */
interface Words {
  readonly title?: string | undefined;
  readonly about?: string | Html | undefined;
  /** Text of the button; default: the title. */
  readonly go?: string | undefined;
  readonly isQuiet?: boolean;
  /** The message after the command. */
  readonly done?: string | undefined;
}

/** What a page gives a form to draw it. */
interface Drawing<F extends Fields> extends Omit<Words, 'done'> {
  readonly as?: Look;
  readonly values?: ByField<F, string | readonly string[] | undefined>;
  /** Choices that are not known when the form is declared. */
  readonly options?: ByField<F, readonly (readonly [string, string])[]>;
  /** Query of the address to which it is sent. */
  readonly query?: Readonly<Record<string, string>>;
  /** Markup before a field. */
  readonly before?: ByField<F, Html>;
  /** Fields that may be left empty here. */
  readonly optional?: readonly (keyof F & string)[];
  /** The field with the focus. */
  readonly focus?: keyof F & string;
  /** Markup next to the button. */
  readonly beside?: Html;
  /** The subject of a folded form among several on a page, for screen readers. */
  readonly of?: string;
  /** What its button does, for screen readers; default: the button's text. */
  readonly label?: string;
}

interface Request<R extends string, F extends Fields> {
  readonly params: ParamsOf<R>;
  /** The address to go on to. */
  readonly query: { readonly to?: string | undefined };
  readonly form: Values<F>;
  readonly visit: Visit;
}

export interface Declaration<R extends FormRoute, F extends Fields, S> {
  /** How it is drawn by default. */
  readonly as?: Look;
  readonly params?: ParamSchemas<R>;
  readonly query?: z.ZodType<{ readonly to?: string | undefined }>;
  readonly hasFile?: boolean;
  readonly isSlow?: boolean;
  /** Whether its command runs on the business clock, not on that of sessions. */
  readonly onBusinessClock?: boolean;
  readonly words?: (texts: Texts) => Words;
  readonly fields?: (texts: Texts) => F;
  /** Returns what the form is about. Throws NOT_FOUND or FORBIDDEN if the viewer may not send it there. */
  readonly find?: (request: Request<R, F>, deps: ConsoleDeps) => S | Promise<S>;
  /** Runs the command, after which the page to which the form leads back shows the text `done`. */
  readonly command?: (request: Request<R, F> & { found: S }, deps: ConsoleDeps) => Promise<unknown>;
  /** Runs the command of a form without `done`. Returns the message to show there, or another answer. */
  readonly run?: (request: Request<R, F> & { found: S }, deps: ConsoleDeps) => Promise<string | Answer>;
  /** Returns a message of its own for an error; undefined for the usual one. */
  readonly refused?: (texts: Texts, refusal: Refusal) => string | undefined;
  /** Returns the page to which the form leads back. */
  readonly back?: (request: { params: ParamsOf<R>; sent: Sent; visit: Visit }) => string;
}

/** A form: its route, and how pages draw it. */
export interface Form<R extends FormRoute, F extends Fields> extends Page {
  readonly route: R;
  draw(visit: Visit, params: ParamsOf<R>, drawing?: Drawing<F>): Html;
  /** Renders some of its fields, for a form that another part draws: that of a list's ticked rows. */
  inputs(visit: Visit, names: readonly (keyof F & string)[], drawing?: Drawing<F>): Html;
}

/** Defines the form of a route, a key of the table of permissions. */
// biome-ignore lint/complexity/noBannedTypes: a form without fields
export function defineForm<R extends FormRoute, F extends Fields = {}, S = undefined>(
  route: R,
  declaration: Declaration<R, F, S>,
): Form<R, F> {
  // Built once for each language.
  const shown = new Map<Texts, Shown<F>>();
  const made: Made<R, F, S> = {
    ...declaration,
    route,
    shownIn(texts) {
      const { words, fields } = declaration;
      const known = shown.get(texts) ?? { ...words?.(texts), fields: fields?.(texts) ?? ({} as F) };
      shown.set(texts, known);
      return known;
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
    handle: ({ form, ...request }, deps) => send(made, { ...request, sent: form }, deps),
  });
  return {
    ...page,
    route,
    draw: (visit, params, drawing = {}) => draw(made, visit, params, drawing),
    inputs: (visit, names, drawing) => html`${inputs(made.shownIn(visit.texts), visit, names, drawing)}`,
  };
}

type Shown<F extends Fields> = Words & { readonly fields: F };

interface Made<R extends FormRoute, F extends Fields, S> extends Declaration<R, F, S> {
  readonly route: R;
  readonly shownIn: (texts: Texts) => Shown<F>;
}

/** Reads a sent form and runs its command. Throws a refusal with each fault at its field. */
async function send<R extends FormRoute, F extends Fields, S>(
  { route, shownIn, find, run, command, refused, back, onBusinessClock }: Made<R, F, S>,
  { sent, ...request }: Omit<Request<R, F>, 'form'> & { sent: Readonly<Record<string, unknown>> },
  deps: ConsoleDeps,
): Promise<Answer> {
  const { params, visit } = request;
  const { fields, done = '' } = shownIn(visit.texts);
  try {
    const asked = { ...request, form: read(fields, sent, visit) };
    // A form for anyone is not an act of the person who happens to be signed in.
    const actor = !isForAnyone(route)
      ? withActor(onBusinessClock ? { ...deps, clock: deps.businessClock } : deps, visit)
      : { ...deps, origin: { keyId: null, address: visit.address } };
    // Without `find`, S is undefined.
    const all = { ...asked, found: (await find?.(asked, actor)) as S };
    await command?.(all, actor);
    const answered = run ? await run(all, actor) : done;
    if (typeof answered !== 'string') return answered;
    return redirect(back?.({ params, sent: sent as Sent, visit }) ?? '/', { kind: 'done', text: answered });
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof LocalizedRefusal) throw error;
    const own = refused?.(visit.texts, error);
    if (own !== undefined) throw new LocalizedRefusal(error.code, own, { cause: error });
    throw atFields(error, fields, visit.texts, idOf(actionOf(route, params), fields, sent));
  }
}

function draw<R extends FormRoute, F extends Fields, S>(
  { route, shownIn, hasFile = false, ...declared }: Made<R, F, S>,
  visit: Visit,
  params: ParamsOf<R>,
  drawing: Drawing<F>,
): Html {
  const { as = declared.as ?? 'plain', beside, of, label } = drawing;
  const shown = { ...shownIn(visit.texts), ...drawing };
  const { title = '', about, go = title, isQuiet, fields } = shown;
  const action = actionOf(route, params);
  const id = idOf(action, fields, drawing.values ?? {});
  const faults = visit.flash?.at?.form === id ? visit.flash.at.faults : {};
  const send = button(go, isQuiet ? 'quiet' : 'main', label);
  const content = [
    typeof about === 'string' && about !== '' ? html`<p>${about}</p>` : html`${about}`,
    ...inputs(shown, visit, Object.keys(fields), drawing, faults),
    beside ? html`<div class="buttons">${send}${beside}</div>` : send,
  ];
  const kind = as === 'inline' ? 'inline' : '';
  const rendered = renderForm(visit, link(action, drawing.query), content, kind, { id, hasFile });
  if (as === 'panel') return panel(title, rendered);
  return as === 'folded' ? fold(title, rendered, { of, isOpen: Object.keys(faults).length > 0 }) : rendered;
}

function inputs(
  { fields }: Shown<Fields>,
  visit: Visit,
  names: readonly string[],
  { values = {}, options = {}, before = {}, optional = [], focus }: Drawing<Fields> = {},
  faults: Readonly<Record<string, string>> = {},
): Html[] {
  return names.flatMap((name) => {
    const given = { value: values[name], options: options[name], fault: faults[name] };
    const how = { optional: optional.includes(name), focus: focus === name };
    const drawn = fields[name]?.draw({ visit, name, values, ...given, ...how });
    return drawn ? [html`${before[name]}${drawn}`] : [];
  });
}

/** Returns the words of a form by the names that they have in the texts: `annul`, `annulAbout`, `annulGo`, `annulDone`. */
export function wordsOf<W extends object>(words: W, key: keyof W & string): Words {
  const of = (name: string): string | undefined => {
    const found: unknown = Object.hasOwn(words, name) ? words[name as keyof W] : undefined;
    return typeof found === 'string' ? found : undefined;
  };
  const [title, about, go, done] = [key, `${key}About`, `${key}Go`, `${key}Done`].map(of);
  return { title, about, go, done };
}

/** Renders content that opens on click. */
export function fold(
  title: string,
  content: Html,
  { of, isOpen = false }: { of?: string | undefined; isOpen?: boolean } = {},
): Html {
  const summary = html`<summary ${of !== undefined && html`aria-label="${title} ${of}"`}>${title}</summary>`;
  return html`<details class="act" ${isOpen && html`open`}>${summary}${content}</details>`;
}

const actionOf = (route: string, params: Readonly<Record<string, unknown>>): string =>
  route.slice('POST '.length).replace(/\{(\w+)\}/g, (_, one: string) => String(params[one]));

/** Returns the HTML id of a form: the same in every drawing of it, another for another subject. */
function idOf(action: string, fields: Fields, values: Readonly<Record<string, unknown>>): string {
  const about = Object.keys(fields).filter((one) => fields[one]?.isAbout);
  const text = JSON.stringify([action, ...about.map((one) => values[one] ?? '')]);
  return `form-${createHash('sha256').update(text).digest('base64url').slice(0, 12)}`;
}

/** Returns the values of the fields. Throws INVALID_INPUT with all faults. */
function read<F extends Fields>(fields: F, sent: unknown, visit: Visit): Values<F> {
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
    const name = fieldOf(fields, fault);
    const words = describeFault(texts, name === undefined ? undefined : fields[name], fault.code);
    return words ? [{ name, ...words }] : [];
  });
  if (shown.length === 0) return error;
  const left = error.faults.length - MAX_SHOWN_FAULTS;
  const said = [...shown.map(({ sentence }) => sentence), ...(left > 0 ? [more(left)] : [])];
  const at = shown.flatMap(({ name, short }) => (name === undefined ? [] : [[name, short] as const]));
  return new FieldRefusal(error, said.join(' '), { form, faults: Object.fromEntries(at.toReversed()) });
}

/** Returns the name of the visible field that a fault of the form or of its command is about. */
const fieldOf = (fields: Fields, { path }: Fault): string | undefined =>
  Object.entries(fields).find(
    ([name, { label, path: own = `/${name}` }]) =>
      label !== undefined && (path === `/${name}` || path === own || path.startsWith(`${own}/`)),
  )?.[0];

/** Describes a fault: for the message of the form, and for its place at the field. Null if there are no words for it. */
function describeFault(
  texts: Texts,
  field: Field | undefined,
  code: string,
): { sentence: string; short: string } | null {
  const { enterprises: words } = texts;
  const label = field?.label;
  const own = field?.wrong ?? wordsFor(words.faults, code) ?? wordsFor(texts.faults, code);
  if (own !== undefined) return { sentence: own, short: own };
  const known = wordsFor(words.fieldFaults, code);
  if (label === undefined && known === undefined) return null;
  const what = known ?? words.wrong;
  return {
    sentence: `${label ?? words.value}: ${what}.`,
    short: `${what.charAt(0).toUpperCase()}${what.slice(1)}.`,
  };
}

const wordsFor = (words: Readonly<Record<string, string>>, code: string): string | undefined =>
  Object.hasOwn(words, code) ? words[code] : undefined;
