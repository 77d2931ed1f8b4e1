import * as z from 'zod';
import {
  confirmSecondFactor,
  offerSecondFactor,
  removeSecondFactor,
} from '../../commands/changeSecondFactor.ts';
import type { OfferedSecret } from '../../crypto/totp.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html } from '../../page/html.ts';
import { appKey, codeField } from '../authenticatorApp.ts';
import {
  type Answer,
  type ConsoleDeps,
  definePage,
  go,
  show,
  signedIn,
  type Visit,
  withActor,
} from '../page.ts';
import { button, field, form, panel, whose } from '../parts.ts';
import { placeOf } from './signIn.ts';

const PATH = '/me/second-factor';
const Proof = { password: z.string().max(1_000), code: z.string().max(20).default('') } as const;

/** GET /me/second-factor: whether one has a second factor, and what one can do about it. */
export const secondFactorPage = definePage({
  name: 'second-factor',
  route: 'GET /me/second-factor',
  async handle({ visit }) {
    const { secondFactor: words } = visit.texts;
    return show(words.title, html`${factorPanels(visit)}<p class="soft">${words.lost}</p>`);
  },
});

/** Only what its form would do for them is offered. */
function factorPanels(visit: Visit): Html {
  const { secondFactor: words } = visit.texts;
  const { session } = signedIn(visit);
  const { hasSecondFactor, operatorRole, method } = session;
  if (method === 'oidc') return panel(null, html`<p>${words.ofProvider}</p>`);
  if (operatorRole !== null && !hasSecondFactor) return panel(null, html`<p>${words.byInvitation}</p>`);
  const proof = html`${whose(session.email)}${field(visit.texts.signIn.password, {
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
 * POST /me/second-factor: offers a new key to who proves that it is them; with what was offered and its first code, puts it in place.
 * What was offered comes back sealed for this session (docs/decisions/console.md#sessions-are-rows).
 */
export const sendSecondFactor = definePage({
  name: 'second-factor',
  route: 'POST /me/second-factor',
  form: z.union([z.object({ offered: z.string().max(200), code: z.string().max(20) }), z.object(Proof)]),
  back: () => PATH,
  async handle({ form: sent, visit }, deps) {
    const { session } = signedIn(visit);
    const place = placeOf(visit, session.email, deps);
    if (!('offered' in sent)) {
      return offerForm(
        visit,
        await told(deps, offerSecondFactor(withActor(deps, visit), session, sent, place)),
      );
    }
    try {
      const { secondFactor: words } = visit.texts;
      const done = confirmSecondFactor(withActor(deps, visit), session, sent, place);
      return goOn(visit, await told(deps, done), words.done);
    } catch (error) {
      const secret = deps.totpSecrets.offered(sent.offered, session.id, deps.clock());
      if (!secret || !(error instanceof Refusal) || error.code !== 'UNAUTHORIZED') throw error;
      return offerForm(visit, { secret, sealed: sent.offered }, visit.texts.faults['code.wrong']);
    }
  },
});

/** POST /me/second-factor/off: from then on the password alone signs in. */
export const sendSecondFactorOff = definePage({
  name: 'second-factor-off',
  route: 'POST /me/second-factor/off',
  form: z.object(Proof),
  back: () => PATH,
  async handle({ form: sent, visit }, deps) {
    const { session } = signedIn(visit);
    const place = placeOf(visit, session.email, deps);
    const done = removeSecondFactor(withActor(deps, visit), session, sent, place);
    return goOn(visit, await told(deps, done), visit.texts.secondFactor.offDone);
  },
});

/** Shows the new key as an invitation does, and takes its first code. */
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

/** Leads on under the session that took the place of the one before. */
function goOn({ cookies }: Visit, token: string, text: string): Answer {
  cookies.set('session', token);
  return go(PATH, { kind: 'done', text });
}

/** What is refused to who proves themselves counts where refused attempts to sign in do, so that guessing raises its alert. */
export async function told<T>({ onSignIn }: ConsoleDeps, act: Promise<T>): Promise<T> {
  try {
    return await act;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'RATE_LIMITED') onSignIn('limited');
    if (error instanceof Refusal && error.code === 'UNAUTHORIZED') onSignIn('refused');
    throw error;
  }
}
