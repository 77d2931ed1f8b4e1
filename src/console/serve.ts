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
  type Sent,
  type Visit,
} from './page.ts';
import { panel } from './parts.ts';

const FORM_BYTES = 64 * 1024;
/** Limit of fields of a form without files, checked before parsing; the largest has 50 ticked rows and a few more. */
const MAX_FIELDS = 500;
/** Limit of parts of a form with files; the largest has a few. */
const MAX_PARTS = 20;
/** Limit of bytes of a part's boundary and headers, one with the name of a file. */
const MAX_PART_HEAD = 1_500;
const FLASH_SECONDS = 60;
const LANGUAGE_SECONDS = 365 * 86_400;
const FLASH_LENGTH = 500;

/** State of a request in the application. */
export interface ConsoleState {
  requestId: string;
  address: string;
  page: string | null;
  email: string | null;
  visit?: Visit;
}

/** A request of the console. */
export type Ctx = Context & { state: ConsoleState };

/** Dependencies of serving: those of pages, and the limits on callers. */
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

/** Reads the visit from the cookies. A browser without a session gets a token of its own, for its forms. */
export async function visitOf(
  ctx: Ctx,
  { deps, guards }: Served,
  route: PageRoute | null = null,
): Promise<Visit> {
  const unknown = unknownVisit(ctx, deps);
  const { cookies, now } = unknown;
  const byPerson = ctx.get('HX-Request') === '' && ctx.path !== '/changes';
  const sessionToken = cookies.get('session') ?? '';
  const who = isWebToken(sessionToken)
    ? await guards.lookUp({ token: sessionToken, address: ctx.state.address }, () =>
        findSession(sessionToken, deps, now, { byPerson }),
      )
    : null;
  const { session, viewer } = who ?? { session: null, viewer: null };
  // A page that reloads itself must not use up the message: only the person's next page shows it.
  const flash = byPerson ? flashIn(cookies.get('flash')) : null;
  if (flash) cookies.set('flash', '', 0);
  return {
    ...unknown,
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
  how: { byPerson: boolean },
): Promise<{ session: LiveSession; viewer: Viewer | null } | null> {
  const em = orm.em.fork();
  const session = await useSession(em, hashWebToken(token), now, how);
  if (!session?.complete) return session && { session, viewer: null };
  const memberships = (await listMemberships(em, [session.personId])).get(session.personId) ?? [];
  return { session, viewer: viewerOf(session, memberships) };
}

/** Returns the token of the browser's session, or sets a new one as its cookie. */
function webTokenOf(ctx: Context, cookies: Cookies): string {
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

/** Takes the slot of a file, then runs `onBegin` before its first byte. */
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

/** Returns the page's answer; an error of a form with `back` redirects there with its message. */
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
    if (invalidQuery.size > 0 && !reportsInvalidQuery(answered)) throw new Refusal('INVALID_INPUT', 'query');
    return answered;
  } catch (error) {
    if (!(error instanceof Refusal) || !page.back || error.code === 'FORBIDDEN') throw error;
    return {
      kind: 'go',
      to: page.back({ params, sent, visit }),
      flash: {
        kind: 'failed',
        text: wordsOf(error, visit.texts),
        at: error instanceof FieldRefusal ? error.at : undefined,
      },
    };
  }
}

/** Redirects to sign-in, and from there to the requested page, or to the page of a form that was sent too late. */
async function toSignIn(
  page: Page,
  ctx: Context & { params: Record<string, string> },
  visit: Visit,
): Promise<Answer> {
  const to = (path: string | undefined): string => link('/sign-in', { to: path === '/' ? undefined : path });
  if (page.method === 'GET') return { kind: 'go', to: to(visit.path) };
  const params = page.params.safeParse(ctx.params);
  if (!page.back || !params.success) return { kind: 'go', to: to(undefined) };
  // The fields only name the page to return to. Without a session, files are not read.
  const isRead = page.fileBytes === undefined;
  const { sent } = isRead ? await formOf(ctx, visit).catch(() => ({ sent: {} })) : { sent: {} };
  return {
    kind: 'go',
    to: to(page.back({ params: params.data, sent, visit })),
    flash: { kind: 'failed', text: visit.texts.signIn.ended },
  };
}

/** Parses a query; leaves out empty values, as a form sends an unused filter. */
const queryOf = (search: string): Record<string, string> =>
  Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== ''));

/** Returns the valid part of a page's query, and its invalid parameters by name. */
function readQuery(page: Page, search: string): { query: unknown; invalidQuery: Map<string, string> } {
  const all = queryOf(search);
  const read = page.query.safeParse(all);
  if (read.success) return { query: read.data, invalidQuery: new Map() };
  const names = new Set(read.error.issues.map(({ path: [name] }) => String(name)));
  const invalidQuery = new Map(Object.entries(all).filter(([name]) => names.has(name)));
  const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !names.has(name)));
  return { query: checked(page.query, rest, 'INVALID_INPUT'), invalidQuery };
}

/** Returns whether a page reported its invalid query; a page that ignored it must fail instead. */
const reportsInvalidQuery = (answered: Answer): boolean =>
  answered.kind === 'page' && answered.status === STATUS.INVALID_INPUT;

/**
 * Returns the fields of a form; a field that occurs several times, such as ticked rows, is a list. A page with files takes
 * multipart/form-data of up to `fileBytes`. Throws FORBIDDEN for a form without this browser's token.
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
  else if (countOf(body, '&', MAX_FIELDS) >= MAX_FIELDS)
    throw new LocalizedRefusal('INVALID_INPUT', visit.texts.why.INVALID_INPUT);
  const entries =
    fileBytes === undefined
      ? [...new URLSearchParams(body.toString('utf8'))]
      : await partsOf(body, ctx.get('Content-Type'));
  if (!entries) throw new LocalizedRefusal('INVALID_INPUT', visit.texts.why.INVALID_INPUT);
  const texts = entries.filter((one): one is [string, string] => typeof one[1] === 'string');
  checkToken(texts.find(([name]) => name === 'form_token')?.[1]);
  const fields = Map.groupBy(
    texts.filter(([name]) => name !== 'form_token'),
    ([name]) => name,
  );
  const files = entries.filter((one): one is [string, Uint8Array] => typeof one[1] !== 'string');
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

/** Returns the token of a form with files from its first part (`fileForm`), to reject it without parsing the rest. */
const tokenOfParts = (body: Buffer): string | undefined =>
  /^--[^\r\n]{1,100}\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n([\w-]{1,100})\r\n--/i.exec(
    body.toString('latin1', 0, 500),
  )?.[1];

/** Parses multipart/form-data (RFC 7578) into texts and the bytes of files, empty if none was chosen. Null if malformed. */
async function partsOf(body: Buffer, type: string): Promise<[string, string | Uint8Array][] | null> {
  if (!hasFewParts(body)) return null;
  // Response contains Node's own parser of forms.
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

/** Returns whether a body has few parts with short headers. Its first line is the boundary, which the parser checks. */
function hasFewParts(body: Buffer): boolean {
  const boundary = body.subarray(0, body.indexOf('\r\n'));
  if (countOf(body, boundary, MAX_PARTS) >= MAX_PARTS) return false;
  for (let at = 0; at !== -1; at = body.indexOf(boundary, at + boundary.length)) {
    const head = body.subarray(at, at + MAX_PART_HEAD);
    // No part follows the last boundary.
    const isLast = head.toString('latin1', boundary.length).startsWith('--');
    if (!isLast && !head.includes('\r\n\r\n')) return false;
  }
  return true;
}

/** Counts a text in a body, up to `limit`. */
function countOf(body: Buffer, text: string | Buffer, limit: number): number {
  let count = 0;
  for (let at = body.indexOf(text); at !== -1 && count < limit; at = body.indexOf(text, at + text.length))
    count += 1;
  return count;
}

function checked(schema: z.ZodType, value: unknown, code: 'NOT_FOUND' | 'INVALID_INPUT'): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Refusal(code, z.prettifyError(result.error).slice(0, FLASH_LENGTH));
}

function answer(ctx: Context, visit: Visit, page: Answer): void {
  if (page.kind === 'go') {
    if (page.flash) visit.cookies.set('flash', flashText(page.flash), FLASH_SECONDS);
    ctx.status = 303;
    ctx.set('Location', page.to);
    return;
  }
  if (page.kind === 'file') {
    ctx.set('Content-Disposition', `attachment; filename="${page.name.replace(/[^\w.-]/g, '_')}"`);
    ctx.type = page.type;
    ctx.body = page.content;
    if (page.length !== undefined) ctx.length = page.length;
    return;
  }
  ctx.status = page.status ?? 200;
  ctx.type = 'html';
  ctx.body = layout(visit, page);
}

/** Shows an error as a page, even if the visit could not be read. */
export function refusalPage(ctx: Ctx, refusal: Refusal, deps: ConsoleDeps): void {
  const visit = ctx.state.visit ?? unknownVisit(ctx, deps);
  const { texts } = visit;
  const { refused } = texts;
  const title = refusal.code in refused ? refused[refusal.code as keyof typeof refused] : refused.other;
  const [back, words] = visit.hasNoRole ? ['/sign-in', texts.signIn.again] : ['/', refused.home];
  const number = html`<p class="soft">${refused.request} <code>${visit.requestId}</code></p>`;
  const on = html`<p><a href="${back}">${words}</a></p>`;
  const body = panel(
    null,
    html`<p>${wordsOf(refusal, texts)}</p>
      ${number}${on}`,
  );
  ctx.status = STATUS[refusal.code] ?? 500;
  if (refusal.retryAfterSeconds !== undefined)
    ctx.set('Retry-After', String(Math.ceil(refusal.retryAfterSeconds)));
  ctx.type = 'html';
  // The switch of languages returns to `path`, which must be a page, not a form.
  ctx.body = layout(ctx.method === 'GET' ? visit : { ...visit, path: '/' }, { title, body });
}

/** Returns the visit of a request without its session. */
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

/** Returns an error's text in the reader's language: that of its fault, its own if localized, else that of its code. */
function wordsOf(refusal: Refusal, texts: Texts): string {
  const fault = refusal.faults[0]?.code ?? '';
  if (Object.hasOwn(texts.faults, fault)) return texts.faults[fault as keyof Texts['faults']];
  if (refusal instanceof LocalizedRefusal) return refusal.message;
  if (refusal.code === 'RATE_LIMITED') return describeRateLimit(refusal, texts);
  const { why } = texts;
  return Object.hasOwn(why, refusal.code) ? why[refusal.code as keyof Texts['why']] : why.other;
}

const flashText = ({ text, ...flash }: Flash): string =>
  Buffer.from(JSON.stringify({ ...flash, text: text.slice(0, FLASH_LENGTH) })).toString('base64url');

const FlashSchema = z.object({
  kind: z.enum(['done', 'failed']),
  text: z.string().max(FLASH_LENGTH),
  at: z.object({ form: z.string(), faults: z.record(z.string(), z.string()) }).optional(),
});

const flashIn = (text = ''): Flash | null =>
  readSentJson(FlashSchema.nullable(), Buffer.from(text, 'base64url').toString('utf8'), null);

/** Stores the chosen language in a cookie. */
export const rememberLanguage = ({ cookies }: Visit, language: string): void =>
  cookies.set('language', language, LANGUAGE_SECONDS);
