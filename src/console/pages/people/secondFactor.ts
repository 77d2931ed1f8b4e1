import * as z from 'zod';
import {
  confirmSecondFactor,
  offerSecondFactor,
  removeSecondFactor,
} from '../../../commands/people/changeSecondFactor.ts';
import type { OfferedSecret } from '../../../crypto/totp.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import { appKey, codeField } from '../../access/authenticatorApp.ts';
import {
  type Answer,
  type ConsoleDeps,
  definePage,
  go,
  show,
  signedIn,
  type Visit,
  withActor,
} from '../../page.ts';
import { button, field, form, panel, usernameField } from '../../parts.ts';
import { signInPlaceOf } from './signIn.ts';

const PATH = '/me/second-factor';
const Proof = { password: z.string().max(1_000), code: z.string().max(20).default('') } as const;

/** GET /me/second-factor: the person's second factor, and the forms to change it. */
export const secondFactorPage = definePage({
  name: 'second-factor',
  route: 'GET /me/second-factor',
  async handle({ visit }) {
    const { secondFactor: words } = visit.texts;
    return show(words.title, html`${factorPanels(visit)}<p class="soft">${words.lost}</p>`);
  },
});

/** Renders only the forms that the person may send. */
function factorPanels(visit: Visit): Html {
  const { secondFactor: words } = visit.texts;
  const { session } = signedIn(visit);
  const { hasSecondFactor, operatorRole, method } = session;
  if (method === 'oidc') return panel(null, html`<p>${words.ofProvider}</p>`);
  if (operatorRole !== null && !hasSecondFactor) return panel(null, html`<p>${words.byInvitation}</p>`);
  const proof = html`${usernameField(session.email)}${field(visit.texts.signIn.password, {
    name: 'password',
    type: 'password',
    autocomplete: 'current-password',
  })}
${hasSecondFactor && codeField(words.present)}`;
  const setUp = form(
    visit,
    PATH,
    html`<p>${hasSecondFactor ? words.replaceAbout : words.setUpAbout}</p>${proof}${button(words.show)}`,
  );
  const off = form(
    visit,
    `${PATH}/off`,
    html`<p>${words.offAbout}</p>${proof}${button(words.offGo, 'quiet')}`,
  );
  return html`<p>${hasSecondFactor ? words.held : words.none}</p>
<div class="panels">${panel(hasSecondFactor ? words.replace : words.setUp, setUp)}${
    hasSecondFactor && operatorRole === null && panel(words.off, off)
  }</div>`;
}

/**
 * POST /me/second-factor: offers a new key after a proof of identity; with the offered key and its first code, stores it. The
 * form returns the key encrypted for this session (docs/decisions/console.md#sessions-are-rows).
 */
export const sendSecondFactor = definePage({
  name: 'second-factor',
  route: 'POST /me/second-factor',
  form: z.union([z.object({ offered: z.string().max(200), code: z.string().max(20) }), z.object(Proof)]),
  back: () => PATH,
  async handle({ form: sent, visit }, deps) {
    const { session } = signedIn(visit);
    const from = signInPlaceOf(visit, session.email, deps);
    if (!('offered' in sent)) {
      return offerForm(
        visit,
        await countRejectedProofs(deps, offerSecondFactor(withActor(deps, visit), session, sent, from)),
      );
    }
    try {
      const { secondFactor: words } = visit.texts;
      const done = confirmSecondFactor(withActor(deps, visit), session, sent, from);
      return replaceSession(visit, await countRejectedProofs(deps, done), words.done);
    } catch (error) {
      const secret = deps.totpSecrets.offered(sent.offered, session.id, deps.clock());
      if (!secret || !(error instanceof Refusal) || error.code !== 'UNAUTHORIZED') throw error;
      return offerForm(visit, { secret, sealed: sent.offered }, visit.texts.faults['code.wrong']);
    }
  },
});

/** POST /me/second-factor/off: removes it; the password alone is enough to sign in. */
export const sendSecondFactorOff = definePage({
  name: 'second-factor-off',
  route: 'POST /me/second-factor/off',
  form: z.object(Proof),
  back: () => PATH,
  async handle({ form: sent, visit }, deps) {
    const { session } = signedIn(visit);
    const from = signInPlaceOf(visit, session.email, deps);
    const done = removeSecondFactor(withActor(deps, visit), session, sent, from);
    return replaceSession(visit, await countRejectedProofs(deps, done), visit.texts.secondFactor.offDone);
  },
});

/** Shows the new key, like an invitation, with the input for its first code. */
function offerForm(visit: Visit, { secret, sealed }: OfferedSecret, refused?: string): Answer {
  const { secondFactor: words, signIn } = visit.texts;
  const { email } = signedIn(visit).session;
  const content = html`<p>${words.newAbout}</p>
<div class="once">${appKey(visit, { email, secret })}</div>
<input type="hidden" name="offered" value="${sealed}">
${codeField(signIn.code, { autofocus: true })}
<div class="buttons">${button(words.newGo)}<a class="after-once" href="${PATH}">${words.leave}</a></div>`;
  const body = html`<div class="narrow">${panel(
    null,
    html`${refused !== undefined && html`<p class="flash failed" role="alert">${refused}</p>`}${form(visit, PATH, content)}`,
  )}</div>`;
  return show(words.newTitle, body, refused === undefined ? {} : { status: 403 });
}

/** Sets the new session that replaced the old one, and redirects. */
function replaceSession({ cookies }: Visit, token: string, text: string): Answer {
  cookies.set('session', token);
  return go(PATH, { kind: 'done', text });
}

/** Counts a rejected proof of identity as a rejected sign-in, so that guessing raises the same alert. */
export async function countRejectedProofs<T>({ onSignIn }: ConsoleDeps, action: Promise<T>): Promise<T> {
  try {
    return await action;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'RATE_LIMITED') onSignIn('limited');
    if (error instanceof Refusal && error.code === 'UNAUTHORIZED') onSignIn('refused');
    throw error;
  }
}
