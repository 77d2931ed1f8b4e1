import * as z from 'zod';
import {
  confirmSignIn,
  type StartedSession,
  signIn,
  signInByOidc,
  signOut,
} from '../../../commands/people/sessions.ts';
import type { SignInOrigin } from '../../../commands/steps/attempts.ts';
import { Refusal } from '../../../errors.ts';
import { networkOf } from '../../../http/callerAddress.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { OIDC_RETURN } from '../../access/oidc.ts';
import { appCode, secret, text } from '../../fields.ts';
import { defineForm } from '../../form.ts';
import { link, ownPath } from '../../links.ts';
import {
  type Answer,
  type ConsoleDeps,
  definePage,
  describeRateLimit,
  LocalizedRefusal,
  readSentJson,
  redirect,
  show,
  signedIn,
  type Visit,
  withActor,
} from '../../page.ts';
import { panel } from '../../parts.ts';

const To = z.object({ to: z.string().max(2_000).optional() });
const BROWSER_SECONDS = 180 * 86_400;
const OIDC_SECONDS = 600;

/** GET /sign-in: the form for e-mail and password; redirects a person who is signed in. */
export const signInPage = definePage({
  name: 'sign-in',
  route: 'GET /sign-in',
  query: To,
  async handle({ query, visit }, { oidc }) {
    return visit.signedIn ? redirect(ownPath(query.to)) : signInForm(visit, oidc !== null, ownPath(query.to));
  },
});

function signInForm(
  visit: Visit,
  hasOidc: boolean,
  to: string,
  refused?: { text: string; status: number },
  email?: string,
): Answer {
  const { signIn: words } = visit.texts;
  const oidc = hasOidc && html`<div><a href="${link('/sign-in/oidc', { to })}">${words.oidc}</a></div>`;
  const focus = email === undefined ? 'email' : 'password';
  const form = signInByPassword.draw(visit, {}, { query: { to }, values: { email }, focus });
  return narrowPage(visit, words.title, html`${form}${oidc}`, refused);
}

/** Shows a sign-in form with the reason of a refusal. */
function narrowPage(
  visit: Visit,
  title: string,
  form: Html,
  refused?: { text: string; status: number },
): Answer {
  const why = refused && html`<p class="flash failed" role="alert">${refused.text}</p>`;
  const lost = html`<div class="soft"><p>${visit.texts.signIn.lost}</p></div>`;
  const body = html`<div class="narrow">${panel(null, html`${why}${form}${lost}`)}</div>`;
  return show(title, body, refused ? { status: refused.status } : {});
}

/** Starts a session; with a second factor, asks for its code. */
export const signInByPassword = defineForm('POST /sign-in', {
  query: To,
  words: ({ signIn: words }) => ({ submit: words.submit }),
  fields: ({ signIn: words }) => ({
    email: text(words.email, { type: 'email', autocomplete: 'username', maxlength: 254 }),
    password: secret(words.password, { autocomplete: 'current-password' }),
  }),
  async run({ query, form: sent, visit }, deps) {
    const to = ownPath(query.to);
    try {
      const started = await signIn(deps, sent, signInOriginOf(visit, sent.email, deps));
      return startBrowserSession(visit, deps, started, sent.email, to);
    } catch (error) {
      const { signIn: words } = visit.texts;
      const refused = describeFailure(error, deps, visit.texts, words.wrong);
      return signInForm(visit, deps.oidc !== null, to, refused, sent.email);
    }
  },
});

/** GET /sign-in/code: the form for the second factor. */
export const codePage = definePage({
  name: 'sign-in-code',
  route: 'GET /sign-in/code',
  query: To,
  async handle({ query, visit }) {
    return visit.pendingSession
      ? codeForm(visit, ownPath(query.to))
      : redirect(link('/sign-in', { to: query.to }));
  },
});

function codeForm(visit: Visit, to: string, refused?: { text: string; status: number }): Answer {
  const { signIn: words } = visit.texts;
  const beside = html`<a href="/sign-in">${words.again}</a>`;
  const form = confirmation.draw(visit, {}, { query: { to }, focus: 'code', beside });
  return narrowPage(visit, words.codeTitle, form, refused);
}

export const confirmation = defineForm('POST /sign-in/code', {
  query: To,
  words: ({ signIn: words }) => ({ submit: words.codeSubmit }),
  fields: ({ signIn: words }) => ({ code: appCode(words.code) }),
  async run({ query, form: sent, visit }, deps) {
    const { pendingSession } = visit;
    const to = ownPath(query.to);
    if (!pendingSession) return redirect(link('/sign-in', { to: query.to }));
    try {
      const { email } = pendingSession;
      const origin = signInOriginOf(visit, email, deps);
      const started = await confirmSignIn(deps, pendingSession, sent.code, origin);
      return startBrowserSession(visit, deps, started, email, to);
    } catch (error) {
      const { signIn: words } = visit.texts;
      return codeForm(visit, to, describeFailure(error, deps, visit.texts, words.wrongCode));
    }
  },
});

/** GET /sign-in/oidc: redirects to the OpenID provider. */
export const oidcPage = definePage({
  name: 'sign-in-oidc',
  route: 'GET /sign-in/oidc',
  query: To,
  async handle({ query, visit }, { oidc }) {
    if (!oidc) throw new LocalizedRefusal('NOT_FOUND', visit.texts.signIn.oidcRefused);
    const { url, visit: oidcVisit } = await oidc.begin(ownPath(query.to));
    visit.cookies.set('oidc', Buffer.from(JSON.stringify(oidcVisit)).toString('base64url'), OIDC_SECONDS);
    return redirect(url);
  },
});

const OidcVisitSchema = z.object({
  verifier: z.string(),
  state: z.string(),
  nonce: z.string(),
  to: z.string(),
});

/** GET /sign-in/oidc/return: completes the sign-in with the OpenID provider. */
export const oidcReturn = definePage({
  name: 'sign-in-oidc-return',
  route: `GET ${OIDC_RETURN}`,
  query: z.object({}).loose(),
  async handle({ visit }, deps) {
    const { signIn: words } = visit.texts;
    const sent = Buffer.from(visit.cookies.get('oidc') ?? '', 'base64url').toString('utf8');
    const oidcVisit = readSentJson(OidcVisitSchema.nullable(), sent, null);
    visit.cookies.set('oidc', '', 0);
    if (!deps.oidc || !oidcVisit)
      return signInForm(visit, deps.oidc !== null, '/', { text: words.oidcRefused, status: 403 });
    try {
      const identity = await deps.oidc.end(new URL(visit.path, deps.consoleUrl).search, oidcVisit);
      const token = await signInByOidc(deps, identity, visit);
      const started = { token, complete: true };
      return startBrowserSession(visit, deps, started, identity.email, ownPath(oidcVisit.to));
    } catch (error) {
      return signInForm(visit, true, '/', describeFailure(error, deps, visit.texts, words.oidcRefused));
    }
  },
});

/** POST /sign-out. */
export const sendSignOut = definePage({
  name: 'sign-out',
  route: 'POST /sign-out',
  // Not counted: a person above their limit may still sign out.
  counted: false,
  async handle({ visit }, deps) {
    await signOut(withActor(deps, visit), signedIn(visit).session);
    visit.cookies.set('session', '', 0);
    return redirect('/sign-in');
  },
});

/** Sets the session's new token as a cookie, and redirects. */
function startBrowserSession(
  visit: Visit,
  deps: ConsoleDeps,
  { token, complete }: StartedSession,
  email: string,
  to: string,
): Answer {
  visit.cookies.set('session', token);
  if (!complete) return redirect(link('/sign-in/code', { to }));
  deps.onSignIn('done');
  const browser = deps.knownBrowsers.remember(email, visit.cookies.get('browser'));
  visit.cookies.set('browser', browser, BROWSER_SECONDS);
  return redirect(to);
}

/** Prefix length of the largest IPv6 network that one site usually gets (RFC 6177). */
const SITE_BITS = 48;

/** Returns the network and browser of a sign-in or proof of identity. */
export function signInOriginOf(visit: Visit, email: string, deps: ConsoleDeps): SignInOrigin {
  const { address, browser, cookies } = visit;
  return {
    address,
    browser,
    network: networkOf(address),
    site: networkOf(address, SITE_BITS),
    knownBrowser: deps.knownBrowsers.idFor(email, cookies.get('browser')),
  };
}

/** Returns the message and status for a refused sign-in; rethrows other errors. */
function describeFailure(
  error: unknown,
  { onSignIn }: ConsoleDeps,
  texts: Texts,
  wrong: string,
): { text: string; status: number } {
  if (error instanceof Refusal && error.code === 'RATE_LIMITED') {
    onSignIn('limited');
    return { text: describeRateLimit(error, texts), status: 429 };
  }
  // Too many passwords are being checked. Other unavailable services have a fault with a text.
  if (error instanceof Refusal && error.code === 'UNAVAILABLE' && error.faults.length === 0)
    return { text: texts.signIn.busy, status: 503 };
  if (!(error instanceof Refusal) || !['UNAUTHORIZED', 'FORBIDDEN'].includes(error.code)) throw error;
  onSignIn('refused');
  return { text: wrong, status: 403 };
}
