/** Serves one page: who asks, whether they may, what they sent; then its own `handle`. */

import { Readable } from 'node:stream';
import type { Context } from 'koa';
import rawBody from 'raw-body';
import * as z from 'zod';
import {
  createWebToken,
  deriveFormToken,
  hashWebToken,
  isFormToken,
  isWebToken,
} from '../crypto/webTokens.ts';
import { type LiveSession, useSession } from '../db/consoleSessions.ts';
import { listMemberships } from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { html } from '../page/html.ts';
import { type Viewer, viewerOf } from './access.ts';
import { type Cookies, cookiesOf } from './cookies.ts';
import type { Guards } from './guards.ts';
import { layout } from './layout.ts';
import { link } from './links.ts';
import {
  type Answer,
  type ConsoleDeps,
  describeRateLimit,
  type Flash,
  LocalizedRefusal,
  type Page,
  type Sent,
  type Visit,
} from './page.ts';
import { panel } from './parts.ts';
import { isForAnyone, mayOpen, type PageRoute } from './permissions.ts';
import { languageOf, TEXTS, type Texts } from './texts/index.ts';

const FORM_BYTES = 64 * 1024;
/** Fields of a form without files, looked at before they are parsed: 50 ticked rows and a handful are the most of ours. */
const MOST_FIELDS = 500;
/** Parts of a form with files; the largest of ours has a handful. */
const MOST_PARTS = 20;
/** Bytes of the boundary and the headers of a part: two headers and the name of a file. */
const MOST_PART_HEAD = 1_500;
const FLASH_SECONDS = 60;
const LANGUAGE_SECONDS = 365 * 86_400;
const FLASH_LENGTH = 500;

/** What the request of a page carries through the application. */
export interface ConsoleState {
  requestId: string;
  address: string;
  page: string | null;
  email: string | null;
  visit?: Visit;
}

/** A request on its way through the console. */
export type Ctx = Context & { state: ConsoleState };

/** What serves pages: what they are handed, and what limits those who ask. */
export interface Served {
  readonly deps: ConsoleDeps;
  readonly guards: Guards;
}

const STATUS: Partial<Record<Refusal['code'], number>> = {
  INVALID_INPUT: 400,
  UNAUTHORIZED: 403,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
};

/** What is known of whoever asks, by their cookies. A browser without a session gets a token of its own, for its forms. */
export async function visitOf(
  ctx: Ctx,
  { deps, guards }: Served,
  route: PageRoute | null = null,
): Promise<Visit> {
  const cookies = cookiesOf(ctx.req, ctx.res, deps.consoleUrl.startsWith('https:'));
  const now = deps.clock();
  const byPerson = ctx.get('HX-Request') === '' && ctx.path !== '/changes';
  const given = cookies.get('session') ?? '';
  const who = isWebToken(given)
    ? await guards.lookUp({ token: given, address: ctx.state.address }, () =>
        whoHas(given, deps, now, { byPerson }),
      )
    : null;
  const { session, viewer } = who ?? { session: null, viewer: null };
  const webToken = webTokenOf(ctx, cookies);
  const language = languageOf(cookies.get('language'), ctx.get('Accept-Language'));
  const texts = TEXTS[language];
  // Told on the page that somebody opened, not to one that draws itself anew.
  const flash = byPerson ? flashIn(cookies.get('flash')) : null;
  if (flash) cookies.set('flash', '', 0);
  return {
    requestId: ctx.state.requestId,
    route,
    address: ctx.state.address,
    browser: ctx.get('User-Agent'),
    path: ctx.path + ctx.search,
    language,
    texts,
    formToken: deriveFormToken(webToken),
    cookies,
    webToken,
    now,
    signedIn: session && viewer ? { session, viewer } : null,
    hasNoRole: Boolean(session?.complete && !viewer),
    pendingSession: session && !session.complete ? session : null,
    flash,
    invalidQuery: new Map(),
  };
}

/** The session with this token, and what it makes of its person; null where there is none. */
async function whoHas(
  token: string,
  { orm }: ConsoleDeps,
  now: Date,
  how: { byPerson: boolean },
): Promise<{ session: LiveSession; viewer: Viewer | null } | null> {
  const em = orm.em.fork();
  const session = await useSession(em, hashWebToken(token), now, how);
  if (!session?.complete) return session && { session, viewer: null };
  const memberships = (await listMemberships(em, [session.personId])).get(session.personId) ?? [];
  return { session, viewer: viewerOf(session, memberships) };
}

/** The token of this browser's session; a new one, which it is given, where it has none. */
function webTokenOf(ctx: Context, cookies: Cookies): string {
  const given = cookies.get('session') ?? '';
  if (isWebToken(given)) return given;
  const token = createWebToken();
  // A form that another site sends comes without the cookie: its answer must not take the place of the person's session.
  if (ctx.method !== 'POST') cookies.set('session', token);
  return token;
}

/** Serves a page or a form to whoever may have it. */
export async function servePage(
  page: Page,
  ctx: Ctx & { params: Record<string, string> },
  { deps, guards }: Served,
): Promise<void> {
  const visit = await visitOf(ctx, { deps, guards }, page.route);
  ctx.state.visit = visit;
  ctx.state.email = visit.signedIn?.session.email ?? null;
  if (!isForAnyone(page.route)) {
    if (visit.hasNoRole) throw new LocalizedRefusal('FORBIDDEN', visit.texts.refused.noRole);
    if (!visit.signedIn) return answer(ctx, visit, await toSignIn(page, ctx, visit));
    if (!mayOpen(visit.signedIn.viewer, page.route))
      throw new LocalizedRefusal('FORBIDDEN', visit.texts.refused.notForRole);
  }
  await guards.limitPerson(page, visit, async () => {
    await guards.countForm(page, visit, deps);
    const params = checked(page.params, ctx.params, 'NOT_FOUND');
    const { sent, files } =
      page.method === 'POST' ? await formOf(ctx, visit, page.fileBytes) : { sent: {}, files: {} };
    const answered = await guards.limitAccount(page, visit, () =>
      answerOf(page, { params, sent, files, search: ctx.search, visit }, deps),
    );
    if (answered.kind === 'file' && answered.content instanceof Readable)
      await beginFile(answered.content, answered.onBegin, (file) => guards.sendFile(visit, file));
    answer(ctx, visit, answered);
  });
}

/** Takes the place of a file, then runs what must be done before its first byte. */
async function beginFile(
  file: Readable,
  onBegin: (() => Promise<void>) | undefined,
  takePlace: (file: Readable) => Promise<void>,
): Promise<void> {
  await takePlace(file);
  try {
    await onBegin?.();
  } catch (error) {
    file.destroy();
    throw error;
  }
}

/** What a page answers; a refusal that its form tells leads back to that. */
async function answerOf(
  page: Page,
  {
    params,
    sent,
    files,
    search,
    visit,
  }: {
    params: unknown;
    sent: Sent;
    files: Readonly<Record<string, Uint8Array>>;
    search: string;
    visit: Visit;
  },
  deps: ConsoleDeps,
): Promise<Answer> {
  try {
    const { query, invalidQuery } = readQuery(page, search);
    const form = checked(page.form, { ...sent, ...files }, 'INVALID_INPUT');
    const answered = await page.handle({ params, query, form, visit: { ...visit, invalidQuery } }, deps);
    if (invalidQuery.size > 0 && !saysUnread(answered)) throw new Refusal('INVALID_INPUT', 'query');
    return answered;
  } catch (error) {
    if (!(error instanceof Refusal) || !page.back || error.code === 'FORBIDDEN') throw error;
    return {
      kind: 'go',
      to: page.back({ params, sent, visit }),
      flash: { kind: 'failed', text: wordsOf(error, visit.texts) },
    };
  }
}

/** Leads to sign in, and from there to the page that was asked for, or where the form stands that was sent too late. */
async function toSignIn(
  page: Page,
  ctx: Context & { params: Record<string, string> },
  visit: Visit,
): Promise<Answer> {
  const to = (path: string | undefined): string => link('/sign-in', { to: path === '/' ? undefined : path });
  if (page.method === 'GET') return { kind: 'go', to: to(visit.path) };
  const params = page.params.safeParse(ctx.params);
  if (!page.back || !params.success) return { kind: 'go', to: to(undefined) };
  // Nothing is done with it; it tells the place. Files are not read for who is not signed in.
  const isRead = page.fileBytes === undefined;
  const { sent } = isRead ? await formOf(ctx, visit).catch(() => ({ sent: {} })) : { sent: {} };
  return {
    kind: 'go',
    to: to(page.back({ params: params.data, sent, visit })),
    flash: { kind: 'failed', text: visit.texts.signIn.ended },
  };
}

/** A query as it stands in an address; a filter that a form left empty says nothing. */
const queryOf = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== ''));

/** The query that a page takes; what of it is no value of its field is left out, and told by its name. */
function readQuery(page: Page, search: string): { query: unknown; invalidQuery: Map<string, string> } {
  const asked = queryOf(search);
  const read = page.query.safeParse(asked);
  if (read.success) return { query: read.data, invalidQuery: new Map() };
  const names = new Set(read.error.issues.map(({ path: [name] }) => String(name)));
  const invalidQuery = new Map(Object.entries(asked).filter(([name]) => names.has(name)));
  const rest = Object.fromEntries(Object.entries(asked).filter(([name]) => !names.has(name)));
  return { query: checked(page.query, rest, 'INVALID_INPUT'), invalidQuery };
}

/** Whether a page said of its query what it could not take; one that cannot has done as if that had not been asked. */
const saysUnread = (answered: Answer): boolean =>
  answered.kind === 'page' && answered.status === STATUS.INVALID_INPUT;

/**
 * The fields of a form that was given out to this browser; one that occurs several times, as ticked rows do, is a list. Those of a
 * page that takes files come as multipart/form-data, of `fileBytes` at most. Refuses every other (FORBIDDEN).
 */
async function formOf(
  ctx: Context,
  visit: Visit,
  fileBytes?: number,
): Promise<{ sent: Sent; files: Readonly<Record<string, Uint8Array>> }> {
  const site = ctx.get('Sec-Fetch-Site');
  const type = fileBytes === undefined ? 'urlencoded' : 'multipart/form-data';
  if (!ctx.is(type) || !['', 'same-origin', 'none'].includes(site)) {
    throw new LocalizedRefusal('FORBIDDEN', visit.texts.refused.staleForm);
  }
  const [length, limit] = [ctx.get('Content-Length') || null, fileBytes ?? FORM_BYTES];
  const body = await rawBody(ctx.req, { length, limit }).catch(() => {
    throw new LocalizedRefusal('PAYLOAD_TOO_LARGE', visit.texts.refused.tooLarge);
  });
  const checkToken = (token: string | undefined): void => {
    if (!isFormToken(token ?? '', visit.webToken))
      throw new LocalizedRefusal('FORBIDDEN', visit.texts.refused.staleForm);
  };
  if (fileBytes !== undefined) checkToken(tokenOfParts(body));
  else if (countOf(body, '&', MOST_FIELDS) >= MOST_FIELDS)
    throw new LocalizedRefusal('INVALID_INPUT', visit.texts.why.INVALID_INPUT);
  const given =
    fileBytes === undefined
      ? [...new URLSearchParams(body.toString('utf8'))]
      : await partsOf(body, ctx.get('Content-Type'));
  if (!given) throw new LocalizedRefusal('INVALID_INPUT', visit.texts.why.INVALID_INPUT);
  const texts = given.filter((one): one is [string, string] => typeof one[1] === 'string');
  checkToken(texts.find(([name]) => name === 'form_token')?.[1]);
  const fields = Map.groupBy(
    texts.filter(([name]) => name !== 'form_token'),
    ([name]) => name,
  );
  const files = given.filter((one): one is [string, Uint8Array] => typeof one[1] !== 'string');
  return {
    sent: Object.fromEntries(
      [...fields].map(([name, [first, ...others]]) => [
        name,
        others.length === 0 ? (first?.[1] ?? '') : [first, ...others].map((one) => one?.[1] ?? ''),
      ]),
    ),
    files: Object.fromEntries(files),
  };
}

/** The token of a form with files, which is its first part (`fileForm`); read without reading the parts, which costs far more. */
const tokenOfParts = (body: Buffer): string | undefined =>
  /^--[^\r\n]{1,100}\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n([\w-]{1,100})\r\n--/i.exec(
    body.toString('latin1', 0, 500),
  )?.[1];

/** The parts of multipart/form-data (RFC 7578): texts, and files as their bytes, empty where none was chosen. Null for what is none. */
async function partsOf(body: Buffer, type: string): Promise<[string, string | Uint8Array][] | null> {
  if (!isShort(body)) return null;
  // The reader of Node itself, which answers to `fetch`.
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => null);
  if (!form) return null;
  return Promise.all(
    [...form].map(
      async ([name, value]): Promise<[string, string | Uint8Array]> => [
        name,
        typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer()),
      ],
    ),
  );
}

/** Whether a body has few parts with short heads. Its first line is the boundary; the reader refuses one that is not that of its type. */
function isShort(body: Buffer): boolean {
  const boundary = body.subarray(0, body.indexOf('\r\n'));
  if (countOf(body, boundary, MOST_PARTS) >= MOST_PARTS) return false;
  for (let at = 0; at !== -1; at = body.indexOf(boundary, at + boundary.length)) {
    const head = body.subarray(at, at + MOST_PART_HEAD);
    // The last boundary has no part behind it.
    const isLast = head.toString('latin1', boundary.length).startsWith('--');
    if (!isLast && !head.includes('\r\n\r\n')) return false;
  }
  return true;
}

/** How often a text occurs, up to `most`. */
function countOf(body: Buffer, text: string | Buffer, most: number): number {
  let count = 0;
  for (let at = body.indexOf(text); at !== -1 && count < most; at = body.indexOf(text, at + text.length))
    count += 1;
  return count;
}

function checked(schema: z.ZodType, value: unknown, code: 'NOT_FOUND' | 'INVALID_INPUT'): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Refusal(code, z.prettifyError(result.error).slice(0, FLASH_LENGTH));
}

function answer(ctx: Context, visit: Visit, given: Answer): void {
  if (given.kind === 'go') {
    if (given.flash) visit.cookies.set('flash', flashText(given.flash), FLASH_SECONDS);
    ctx.status = 303;
    ctx.set('Location', given.to);
    return;
  }
  if (given.kind === 'file') {
    ctx.set('Content-Disposition', `attachment; filename="${given.name.replace(/[^\w.-]/g, '_')}"`);
    ctx.type = given.type;
    ctx.body = given.content;
    if (given.length !== undefined) ctx.length = given.length;
    return;
  }
  ctx.status = given.status ?? 200;
  ctx.type = 'html';
  ctx.body = layout(visit, given);
}

/** Says a refusal as a page, also where it came before anything was known of the visit. */
export function refusalPage(ctx: Ctx, refusal: Refusal, deps: ConsoleDeps): void {
  const visit = ctx.state.visit ?? unknownVisit(ctx, deps);
  const { texts } = visit;
  const { refused } = texts;
  const title = refusal.code in refused ? refused[refusal.code as keyof typeof refused] : refused.other;
  const [back, words] = visit.hasNoRole ? ['/sign-in', texts.signIn.again] : ['/', refused.home];
  const number = html`<p class="soft">${refused.request} <code>${visit.requestId}</code></p>`;
  const on = html`<p><a href="${back}">${words}</a></p>`;
  const body = panel(null, html`<p>${wordsOf(refusal, texts)}</p>${number}${on}`);
  ctx.status = STATUS[refusal.code] ?? 500;
  if (refusal.retryAfterSeconds !== undefined)
    ctx.set('Retry-After', String(Math.ceil(refusal.retryAfterSeconds)));
  ctx.type = 'html';
  // The switch of languages leads to a page, which a form is not.
  ctx.body = layout(ctx.method === 'GET' ? visit : { ...visit, path: '/' }, { title, body });
}

function unknownVisit(ctx: Ctx, deps: ConsoleDeps): Visit {
  const cookies = cookiesOf(ctx.req, ctx.res, deps.consoleUrl.startsWith('https:'));
  const language = languageOf(cookies.get('language'), ctx.get('Accept-Language'));
  const webToken = webTokenOf(ctx, cookies);
  return {
    requestId: ctx.state.requestId,
    route: null,
    address: ctx.state.address,
    browser: '',
    path: '/',
    language,
    texts: TEXTS[language],
    formToken: deriveFormToken(webToken),
    cookies,
    webToken,
    now: deps.clock(),
    signedIn: null,
    hasNoRole: false,
    pendingSession: null,
    flash: null,
    invalidQuery: new Map(),
  };
}

/** A refusal in the words of the reader's language: those of its fault, its own where a page told it, else those of its code. */
function wordsOf(refusal: Refusal, texts: Texts): string {
  const fault = refusal.faults[0]?.code ?? '';
  if (Object.hasOwn(texts.faults, fault)) return texts.faults[fault as keyof Texts['faults']];
  if (refusal instanceof LocalizedRefusal) return refusal.message;
  if (refusal.code === 'RATE_LIMITED') return describeRateLimit(refusal, texts);
  const { why } = texts;
  return Object.hasOwn(why, refusal.code) ? why[refusal.code as keyof Texts['why']] : why.other;
}

const flashText = ({ kind, text }: Flash): string =>
  Buffer.from(JSON.stringify({ kind, text: text.slice(0, FLASH_LENGTH) })).toString('base64url');

const FlashSchema = z.object({ kind: z.enum(['done', 'failed']), text: z.string().max(FLASH_LENGTH) });

function flashIn(text: string | undefined): Flash | null {
  if (!text) return null;
  try {
    return FlashSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    return null;
  }
}

/** Remembers the language that somebody chose. */
export const rememberLanguage = ({ cookies }: Visit, language: string): void =>
  cookies.set('language', language, LANGUAGE_SECONDS);
