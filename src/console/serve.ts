/** Serves one page: finds the session, checks permission and input, then runs the page's `handle`. */

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
import { type LiveSession, useSession } from '../db/people/consoleSessions.ts';
import { listMemberships } from '../db/people/people.ts';
import { Refusal } from '../errors.ts';
import { html } from '../page/html.ts';
import { languageOf, TEXTS, type Texts } from '../words/console.ts';
import { type Viewer, viewerOf } from './access/access.ts';
import { type Cookies, cookiesOf } from './access/cookies.ts';
import type { Guards } from './access/guards.ts';
import { isForAnyone, mayOpen, type PageRoute } from './access/permissions.ts';
import { layout } from './layout.ts';
import { link } from './links.ts';
import {
  type Answer,
  type ConsoleDeps,
  describeRateLimit,
  FieldRefusal,
  type Flash,
  LocalizedRefusal,
  type Page,
  readSentJson,
  redirect,
  type Sent,
  type Visit,
} from './page.ts';
import { panel } from './parts.ts';

const FORM_BYTES = 64 * 1024;
/** Limit of fields of a form without files, checked before parsing; the largest form has fewer than 100. */
const MAX_FIELDS = 500;
/** Limit of parts of a form with files; the largest form has fewer than 10. */
const MAX_PARTS = 20;
/** Limit of bytes of a part's boundary and headers, which include the name of its file. */
const MAX_PART_HEAD = 1_500;
const FLASH_SECONDS = 60;
const LANGUAGE_SECONDS = 365 * 86_400;
const FLASH_LENGTH = 500;

/** What the middleware knows of a request. */
export interface ConsoleState {
  requestId: string;
  address: string;
  page: string | null;
  email: string | null;
  visit?: Visit;
}

/** A request of the console. */
export type Ctx = Context & { state: ConsoleState };

/** Dependencies of pages, and the limits on callers. */
export interface ServeDeps {
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

/** Reads the visit from the cookies. A browser without a session gets a token, for its forms. */
export async function readVisit(
  ctx: Ctx,
  { deps, guards }: ServeDeps,
  route: PageRoute | null = null,
): Promise<Visit> {
  const anonymous = createAnonymousVisit(ctx, deps);
  const { cookies, now } = anonymous;
  const byPerson = ctx.get('HX-Request') === '' && ctx.path !== '/changes';
  const sessionToken = cookies.get('session') ?? '';
  const found = isWebToken(sessionToken)
    ? await guards.lookUp({ token: sessionToken, address: ctx.state.address }, () =>
        findSession(sessionToken, deps, now, { byPerson }),
      )
    : null;
  const { session, viewer } = found ?? { session: null, viewer: null };
  // A page that reloads itself must leave the message for the next page that the person opens.
  const flash = byPerson ? parseFlash(cookies.get('flash')) : null;
  if (flash) cookies.set('flash', '', 0);
  return {
    ...anonymous,
    route,
    browser: ctx.get('User-Agent'),
    path: ctx.path + ctx.search,
    signedIn: session && viewer ? { session, viewer } : null,
    hasNoRole: Boolean(session?.complete && !viewer),
    pendingSession: session && !session.complete ? session : null,
    flash,
  };
}

/** Returns the session of a token with its viewer; null if unknown. */
async function findSession(
  token: string,
  { orm }: ConsoleDeps,
  now: Date,
  options: { byPerson: boolean },
): Promise<{ session: LiveSession; viewer: Viewer | null } | null> {
  const em = orm.em.fork();
  const session = await useSession(em, hashWebToken(token), now, options);
  if (!session?.complete) return session && { session, viewer: null };
  const memberships = (await listMemberships(em, [session.personId])).get(session.personId) ?? [];
  return { session, viewer: viewerOf(session, memberships) };
}

/** Returns the token of the browser's session; without one, sets a new token as its cookie. */
function getOrSetWebToken(ctx: Context, cookies: Cookies): string {
  const current = cookies.get('session') ?? '';
  if (isWebToken(current)) return current;
  const token = createWebToken();
  // A form from another site arrives without the cookie: its response must not replace the person's session.
  if (ctx.method !== 'POST') cookies.set('session', token);
  return token;
}

/** Serves a page or form, if the caller has permission. */
export async function servePage(
  page: Page,
  ctx: Ctx & { params: Record<string, string> },
  { deps, guards }: ServeDeps,
): Promise<void> {
  const visit = await readVisit(ctx, { deps, guards }, page.route);
  ctx.state.visit = visit;
  ctx.state.email = visit.signedIn?.session.email ?? null;
  if (!isForAnyone(page.route)) {
    if (visit.hasNoRole) throw new LocalizedRefusal('FORBIDDEN', visit.texts.refused.noRole);
    if (!visit.signedIn) return sendAnswer(ctx, visit, await redirectToSignIn(page, ctx, visit));
    if (!mayOpen(visit.signedIn.viewer, page.route))
      throw new LocalizedRefusal('FORBIDDEN', visit.texts.refused.notForRole);
  }
  await guards.limitPerson(page, visit, async () => {
    await guards.countForm(page, visit, deps);
    const params = parseInput(page.params, ctx.params, 'NOT_FOUND');
    const form =
      page.method === 'POST' ? await readForm(ctx, visit, page.fileBytes) : { sent: {}, files: {} };
    const answer = await guards.limitAccount(page, visit, () =>
      runPage(page, { params, ...form, search: ctx.search, visit }, deps),
    );
    if (answer.kind === 'file' && answer.content instanceof Readable)
      await beginFile(answer.content, answer.onBegin, (file) => guards.sendFile(visit, file));
    sendAnswer(ctx, visit, answer);
  });
}

/** Takes a download slot for a file, then runs `onBegin` before its first byte. */
async function beginFile(
  file: Readable,
  onBegin: (() => Promise<void>) | undefined,
  takeSlot: (file: Readable) => Promise<void>,
): Promise<void> {
  await takeSlot(file);
  try {
    await onBegin?.();
  } catch (error) {
    file.destroy();
    throw error;
  }
}

interface ReadForm {
  readonly sent: Sent;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** Returns the page's answer; an error of a form with `back` redirects there with its message. */
async function runPage(
  page: Page,
  { params, sent, files, search, visit }: ReadForm & { params: unknown; search: string; visit: Visit },
  deps: ConsoleDeps,
): Promise<Answer> {
  try {
    const { query, invalidQuery } = readQuery(page, search);
    const form = parseInput(page.form, { ...sent, ...files }, 'INVALID_INPUT');
    const answer = await page.handle({ params, query, form, visit: { ...visit, invalidQuery } }, deps);
    if (invalidQuery.size > 0 && !reportsInvalidQuery(answer)) throw new Refusal('INVALID_INPUT', 'query');
    return answer;
  } catch (error) {
    if (!(error instanceof Refusal) || !page.back || error.code === 'FORBIDDEN') throw error;
    const at = error instanceof FieldRefusal ? error.at : undefined;
    const text = describeRefusal(error, visit.texts);
    return redirect(page.back({ params, sent, visit }), { kind: 'failed', text, at });
  }
}

/** Redirects to sign-in, and from there to the requested page or to the page of the sent form. */
async function redirectToSignIn(
  page: Page,
  ctx: Context & { params: Record<string, string> },
  visit: Visit,
): Promise<Answer> {
  const signIn = (to?: string): string => link('/sign-in', { to: to === '/' ? undefined : to });
  if (page.method === 'GET') return redirect(signIn(visit.path));
  const params = page.params.safeParse(ctx.params);
  if (!page.back || !params.success) return redirect(signIn());
  // The fields only name the page to return to. Without a session, files are not read.
  const isRead = page.fileBytes === undefined;
  const { sent } = isRead ? await readForm(ctx, visit).catch(() => ({ sent: {} })) : { sent: {} };
  const flash = { kind: 'failed', text: visit.texts.signIn.ended } as const;
  return redirect(signIn(page.back({ params: params.data, sent, visit })), flash);
}

/** Parses a query, without the empty values that a form sends for unused filters. */
const parseQuery = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== ''));

/** Returns the valid part of a page's query, and its invalid parameters by name. */
function readQuery(page: Page, search: string): { query: unknown; invalidQuery: Map<string, string> } {
  const query = parseQuery(search);
  const parsed = page.query.safeParse(query);
  if (parsed.success) return { query: parsed.data, invalidQuery: new Map() };
  const names = new Set(parsed.error.issues.map(({ path: [name] }) => String(name)));
  const invalidQuery = new Map(Object.entries(query).filter(([name]) => names.has(name)));
  const rest = Object.fromEntries(Object.entries(query).filter(([name]) => !names.has(name)));
  return { query: parseInput(page.query, rest, 'INVALID_INPUT'), invalidQuery };
}

/** Returns whether a page showed that its query is invalid. */
const reportsInvalidQuery = (answer: Answer): boolean =>
  answer.kind === 'page' && answer.status === STATUS.INVALID_INPUT;

/**
 * Returns the fields of a form; a field that occurs several times, such as ticked rows, is a list. A page with files accepts
 * multipart/form-data of up to `fileBytes`. Throws FORBIDDEN for a form without this browser's token.
 */
async function readForm(ctx: Context, visit: Visit, fileBytes?: number): Promise<ReadForm> {
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
  // Rejects a form with files before its parts are parsed.
  if (fileBytes !== undefined) checkToken(readFirstPartToken(body));
  else if (countOccurrences(body, '&', MAX_FIELDS) >= MAX_FIELDS)
    throw new LocalizedRefusal('INVALID_INPUT', visit.texts.why.INVALID_INPUT);
  const entries =
    fileBytes === undefined
      ? [...new URLSearchParams(body.toString('utf8'))]
      : await parseParts(body, ctx.get('Content-Type'));
  if (!entries) throw new LocalizedRefusal('INVALID_INPUT', visit.texts.why.INVALID_INPUT);
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  checkToken(texts.find(([name]) => name === 'form_token')?.[1]);
  const fields = Map.groupBy(
    texts.filter(([name]) => name !== 'form_token'),
    ([name]) => name,
  );
  const files = entries.filter((entry): entry is [string, Uint8Array] => typeof entry[1] !== 'string');
  const sent = [...fields].map(([name, group]) => {
    const [first = '', ...others] = group.map(([, value]) => value);
    return [name, others.length === 0 ? first : [first, ...others]] as const;
  });
  return { sent: Object.fromEntries(sent), files: Object.fromEntries(files) };
}

const readFirstPartToken = (body: Buffer): string | undefined =>
  /^--[^\r\n]{1,100}\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n([\w-]{1,100})\r\n--/i.exec(
    body.toString('latin1', 0, 500),
  )?.[1];

/** Parses multipart/form-data (RFC 7578) into texts and bytes; a file not chosen has no bytes. Null if malformed. */
async function parseParts(body: Buffer, type: string): Promise<[string, string | Uint8Array][] | null> {
  if (!hasFewParts(body)) return null;
  // Node's parser of forms is only available through Response.
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => null);
  if (!form) return null;
  return Promise.all(
    [...form].map(async ([name, value]): Promise<[string, string | Uint8Array]> => [
      name,
      typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer()),
    ]),
  );
}

/** Returns whether a body has few parts with short headers. Trusts its first line to be the boundary: the parser checks it. */
function hasFewParts(body: Buffer): boolean {
  const boundary = body.subarray(0, body.indexOf('\r\n'));
  if (countOccurrences(body, boundary, MAX_PARTS) >= MAX_PARTS) return false;
  for (let start = 0; start !== -1; start = body.indexOf(boundary, start + boundary.length)) {
    const head = body.subarray(start, start + MAX_PART_HEAD);
    // No part follows the last boundary.
    const isLast = head.toString('latin1', boundary.length).startsWith('--');
    if (!isLast && !head.includes('\r\n\r\n')) return false;
  }
  return true;
}

/** Counts the occurrences of a text in a body, up to `limit`. */
function countOccurrences(body: Buffer, text: string | Buffer, limit: number): number {
  let count = 0;
  for (let i = body.indexOf(text); i !== -1 && count < limit; i = body.indexOf(text, i + text.length))
    count += 1;
  return count;
}

function parseInput(schema: z.ZodType, value: unknown, code: 'NOT_FOUND' | 'INVALID_INPUT'): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Refusal(code, z.prettifyError(result.error).slice(0, FLASH_LENGTH));
}

function sendAnswer(ctx: Context, visit: Visit, answer: Answer): void {
  if (answer.kind === 'redirect') {
    if (answer.flash) visit.cookies.set('flash', serializeFlash(answer.flash), FLASH_SECONDS);
    ctx.status = 303;
    ctx.set('Location', answer.to);
    return;
  }
  if (answer.kind === 'file') {
    ctx.set('Content-Disposition', `attachment; filename="${answer.name.replace(/[^\w.-]/g, '_')}"`);
    ctx.type = answer.type;
    ctx.body = answer.content;
    if (answer.length !== undefined) ctx.length = answer.length;
    return;
  }
  ctx.status = answer.status ?? 200;
  ctx.type = 'html';
  ctx.body = layout(visit, answer);
}

/** Shows an error as a page, even if the visit could not be read. */
export function showRefusal(ctx: Ctx, refusal: Refusal, deps: ConsoleDeps): void {
  const visit = ctx.state.visit ?? createAnonymousVisit(ctx, deps);
  const { texts } = visit;
  const { refused } = texts;
  const title = refusal.code in refused ? refused[refusal.code as keyof typeof refused] : refused.other;
  const [path, linkText] = visit.hasNoRole ? ['/sign-in', texts.signIn.again] : ['/', refused.home];
  const content = html`<p>${describeRefusal(refusal, texts)}</p>
    <p class="soft">${refused.request} <code>${visit.requestId}</code></p>
    <p><a href="${path}">${linkText}</a></p>`;
  ctx.status = STATUS[refusal.code] ?? 500;
  if (refusal.retryAfterSeconds !== undefined)
    ctx.set('Retry-After', String(Math.ceil(refusal.retryAfterSeconds)));
  ctx.type = 'html';
  // The language switch returns to `path`, which must be a page, not a form.
  const shownVisit = ctx.method === 'GET' ? visit : { ...visit, path: '/' };
  ctx.body = layout(shownVisit, { title, body: panel(null, content) });
}

/** Returns the visit of a request without its session. */
function createAnonymousVisit(ctx: Ctx, deps: ConsoleDeps): Visit {
  const cookies = cookiesOf(ctx.req, ctx.res, deps.consoleUrl.startsWith('https:'));
  const language = languageOf(cookies.get('language'), ctx.get('Accept-Language'));
  const webToken = getOrSetWebToken(ctx, cookies);
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

/** Describes an error in the reader's language: by its first fault, its localized message or its code, in this order. */
function describeRefusal(refusal: Refusal, texts: Texts): string {
  const fault = refusal.faults[0]?.code ?? '';
  if (Object.hasOwn(texts.faults, fault)) return texts.faults[fault as keyof Texts['faults']];
  if (refusal instanceof LocalizedRefusal) return refusal.message;
  if (refusal.code === 'RATE_LIMITED') return describeRateLimit(refusal, texts);
  const { why } = texts;
  return Object.hasOwn(why, refusal.code) ? why[refusal.code as keyof Texts['why']] : why.other;
}

const serializeFlash = ({ text, ...flash }: Flash): string =>
  Buffer.from(JSON.stringify({ ...flash, text: text.slice(0, FLASH_LENGTH) })).toString('base64url');

const FlashSchema = z.object({
  kind: z.enum(['done', 'failed']),
  text: z.string().max(FLASH_LENGTH),
  at: z.object({ form: z.string(), faults: z.record(z.string(), z.string()) }).optional(),
});

const parseFlash = (text = ''): Flash | null =>
  readSentJson(FlashSchema.nullable(), Buffer.from(text, 'base64url').toString('utf8'), null);

/** Stores the chosen language in a cookie. */
export const rememberLanguage = ({ cookies }: Visit, language: string): void =>
  cookies.set('language', language, LANGUAGE_SECONDS);
