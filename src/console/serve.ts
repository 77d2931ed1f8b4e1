/** Serves one page: who asks, whether they may, what they sent; then its own `handle`. */
import type { Context } from 'koa';
import rawBody from 'raw-body';
import * as z from 'zod';
import { formTokenOf, hashOfWebToken, isFormToken, isWebToken, newWebToken } from '../crypto/webTokens.ts';
import { useSession } from '../db/consoleSessions.ts';
import { membershipsOf } from '../db/people.ts';
import { Refusal } from '../errors.ts';
import { html } from '../page/html.ts';
import { isAmong, viewerOf } from './access.ts';
import { type Cookies, cookiesOf } from './cookies.ts';
import { layout } from './layout.ts';
import { link } from './links.ts';
import {
  type Answer,
  type ConsoleDeps,
  type Flash,
  limitedWords,
  type Page,
  type Sent,
  ToldRefusal,
  type Visit,
} from './page.ts';
import { panel } from './parts.ts';
import { languageOf, TEXTS, type Texts } from './texts/index.ts';

const FORM_BYTES = 64 * 1024;
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
export async function visitOf(ctx: Context & { state: ConsoleState }, deps: ConsoleDeps): Promise<Visit> {
  const cookies = cookiesOf(ctx.req, ctx.res, deps.consoleUrl.startsWith('https:'));
  const now = deps.clock();
  const given = cookies.get('session') ?? '';
  const em = deps.orm.em.fork();
  const byPerson = ctx.get('HX-Request') === '' && ctx.path !== '/changes';
  const session = isWebToken(given) ? await useSession(em, hashOfWebToken(given), now, { byPerson }) : null;
  const webToken = webTokenOf(ctx, cookies);
  const memberships = session?.complete
    ? ((await membershipsOf(em, [session.personId])).get(session.personId) ?? [])
    : [];
  const viewer = session?.complete ? viewerOf(session, memberships) : null;
  const language = languageOf(cookies.get('language'), ctx.get('Accept-Language'));
  const texts = TEXTS[language];
  // Told on the page that somebody opened, not to one that draws itself anew.
  const flash = byPerson ? flashIn(cookies.get('flash')) : null;
  if (flash) cookies.set('flash', '', 0);
  return {
    requestId: ctx.state.requestId,
    address: ctx.state.address,
    browser: ctx.get('User-Agent'),
    path: ctx.path + ctx.search,
    language,
    texts,
    formToken: formTokenOf(webToken),
    cookies,
    webToken,
    now,
    signedIn: session && viewer ? { session, viewer } : null,
    isNobody: Boolean(session?.complete && !viewer),
    halfway: session && !session.complete ? session : null,
    flash,
    unread: new Map(),
  };
}

/** The token of this browser's session; a new one, which it is given, where it has none. */
function webTokenOf(ctx: Context, cookies: Cookies): string {
  const given = cookies.get('session') ?? '';
  if (isWebToken(given)) return given;
  const token = newWebToken();
  // A form that another site sends comes without the cookie: its answer must not take the place of the person's session.
  if (ctx.method !== 'POST') cookies.set('session', token);
  return token;
}

/** Serves a page or a form to whoever may have it. */
export async function servePage(
  page: Page,
  ctx: Context & { state: ConsoleState; params: Record<string, string> },
  deps: ConsoleDeps,
): Promise<void> {
  const visit = await visitOf(ctx, deps);
  ctx.state.visit = visit;
  ctx.state.email = visit.signedIn?.session.email ?? null;
  if (page.audience !== 'anyone') {
    if (visit.isNobody) throw new ToldRefusal('FORBIDDEN', visit.texts.refused.noRole);
    if (!visit.signedIn) return answer(ctx, visit, await toSignIn(page, ctx, visit));
    if (!isAmong(visit.signedIn.viewer, page.audience))
      throw new ToldRefusal('FORBIDDEN', visit.texts.refused.notForRole);
  }
  const params = checked(page.params, ctx.params, 'NOT_FOUND');
  const { sent, files } =
    page.method === 'POST' ? await formOf(ctx, visit, page.fileBytes) : { sent: {}, files: {} };
  try {
    const { query, unread } = readQuery(page, ctx.search);
    const form = checked(page.form, { ...sent, ...files }, 'INVALID_INPUT');
    const answered = await page.handle({ params, query, form, visit: { ...visit, unread } }, deps);
    if (unread.size > 0 && !saysUnread(answered)) throw new Refusal('INVALID_INPUT', 'query');
    answer(ctx, visit, answered);
  } catch (error) {
    if (!(error instanceof Refusal) || !page.back || error.code === 'FORBIDDEN') throw error;
    answer(ctx, visit, {
      kind: 'go',
      to: page.back({ params, sent, visit }),
      flash: { kind: 'failed', text: wordsOf(error, visit.texts) },
    });
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
  // Nothing is done with it; it tells the place.
  const { sent } = await formOf(ctx, visit, page.fileBytes).catch(() => ({ sent: {} }));
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
function readQuery(page: Page, search: string): { query: unknown; unread: Map<string, string> } {
  const asked = queryOf(search);
  const read = page.query.safeParse(asked);
  if (read.success) return { query: read.data, unread: new Map() };
  const names = new Set(read.error.issues.map(({ path: [name] }) => String(name)));
  const unread = new Map(Object.entries(asked).filter(([name]) => names.has(name)));
  const rest = Object.fromEntries(Object.entries(asked).filter(([name]) => !names.has(name)));
  return { query: checked(page.query, rest, 'INVALID_INPUT'), unread };
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
    throw new ToldRefusal('FORBIDDEN', visit.texts.refused.staleForm);
  }
  const body = await rawBody(ctx.req, { limit: fileBytes ?? FORM_BYTES }).catch(() => {
    throw new ToldRefusal('PAYLOAD_TOO_LARGE', visit.texts.refused.tooLarge);
  });
  const given =
    fileBytes === undefined
      ? [...new URLSearchParams(body.toString('utf8'))]
      : await partsOf(body, ctx.get('Content-Type'));
  if (!given) throw new ToldRefusal('INVALID_INPUT', visit.texts.why.INVALID_INPUT);
  const texts = given.filter((one): one is [string, string] => typeof one[1] === 'string');
  const token = texts.find(([name]) => name === 'form_token')?.[1] ?? '';
  if (!isFormToken(token, visit.webToken)) throw new ToldRefusal('FORBIDDEN', visit.texts.refused.staleForm);
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

/** The parts of multipart/form-data (RFC 7578): texts, and files as their bytes, empty where none was chosen. Null for what is none. */
async function partsOf(body: Buffer, type: string): Promise<[string, string | Uint8Array][] | null> {
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
export function refusalPage(
  ctx: Context & { state: ConsoleState },
  refusal: Refusal,
  deps: ConsoleDeps,
): void {
  const visit = ctx.state.visit ?? unknownVisit(ctx, deps);
  const { texts } = visit;
  const { refused } = texts;
  const title = refusal.code in refused ? refused[refusal.code as keyof typeof refused] : refused.other;
  const [back, words] = visit.isNobody ? ['/sign-in', texts.signIn.again] : ['/', refused.home];
  const body = panel(
    null,
    html`<p>${wordsOf(refusal, texts)}</p><p class="soft">${refused.request} <code>${visit.requestId}</code></p><p><a href="${back}">${words}</a></p>`,
  );
  ctx.status = STATUS[refusal.code] ?? 500;
  if (refusal.retryAfterSeconds !== undefined)
    ctx.set('Retry-After', String(Math.ceil(refusal.retryAfterSeconds)));
  ctx.type = 'html';
  // The switch of languages leads to a page, which a form is not.
  ctx.body = layout(ctx.method === 'GET' ? visit : { ...visit, path: '/' }, { title, body });
}

function unknownVisit(ctx: Context & { state: ConsoleState }, deps: ConsoleDeps): Visit {
  const cookies = cookiesOf(ctx.req, ctx.res, deps.consoleUrl.startsWith('https:'));
  const language = languageOf(cookies.get('language'), ctx.get('Accept-Language'));
  const webToken = webTokenOf(ctx, cookies);
  return {
    requestId: ctx.state.requestId,
    address: ctx.state.address,
    browser: '',
    path: '/',
    language,
    texts: TEXTS[language],
    formToken: formTokenOf(webToken),
    cookies,
    webToken,
    now: deps.clock(),
    signedIn: null,
    isNobody: false,
    halfway: null,
    flash: null,
    unread: new Map(),
  };
}

/** A refusal in the words of the reader's language: those of its fault, its own where a page told it, else those of its code. */
function wordsOf(refusal: Refusal, texts: Texts): string {
  const fault = refusal.faults[0]?.code ?? '';
  if (Object.hasOwn(texts.faults, fault)) return texts.faults[fault as keyof Texts['faults']];
  if (refusal instanceof ToldRefusal) return refusal.message;
  if (refusal.code === 'RATE_LIMITED') return limitedWords(refusal, texts);
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
