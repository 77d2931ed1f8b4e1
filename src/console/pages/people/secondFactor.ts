import * as z from 'zod';
import {
  confirmSecondFactor,
  offerSecondFactor,
  removeSecondFactor,
} from '../../../commands/people/changeSecondFactor.ts';
import type { OfferedSecret } from '../../../crypto/totp.ts';
import { Refusal } from '../../../errors.ts';
import { type Html, html } from '../../../page/html.ts';
import type { Texts } from '../../../words/console.ts';
import { appKey } from '../../access/authenticatorApp.ts';
import { appCode, type FieldContext, secret, shownIf, state } from '../../fields.ts';
import { defineForm, formWords } from '../../form.ts';
import {
  type Answer,
  type ConsoleDeps,
  definePage,
  redirect,
  show,
  signedIn,
  type Visit,
} from '../../page.ts';
import { panel, usernameField } from '../../parts.ts';
import { signInOriginOf } from './signIn.ts';

const PATH = '/me/second-factor';

/** A proof of identity: the password and, with a second factor, its current code. */
const proof = ({ signIn, secondFactor: words }: Texts) => ({
  password: secret(signIn.password, { autocomplete: 'current-password' }),
  code: shownIf(appCode(words.present), ({ visit }) => signedIn(visit).session.hasSecondFactor),
});

/** GET /me/second-factor: the person's second factor, and the forms to change it. */
export const secondFactorPage = definePage({
  name: 'second-factor',
  route: 'GET /me/second-factor',
  async handle({ visit }) {
    const { secondFactor: words } = visit.texts;
    return show(
      words.title,
      html`${factorPanels(visit)}
        <p class="soft">${words.lost}</p>`,
    );
  },
});

/** Renders only the forms that the person may send. */
function factorPanels(visit: Visit): Html {
  const { secondFactor: words } = visit.texts;
  const { session } = signedIn(visit);
  const { hasSecondFactor, operatorRole, method } = session;
  if (method === 'oidc') return panel(null, html`<p>${words.ofProvider}</p>`);
  if (operatorRole !== null && !hasSecondFactor) return panel(null, html`<p>${words.byInvitation}</p>`);
  const username = usernameField(session.email);
  const title = hasSecondFactor ? words.replace : words.setUp;
  const about = html`<p>${hasSecondFactor ? words.replaceAbout : words.setUpAbout}</p>
    ${username}`;
  const aboutOff = html`<p>${words.offAbout}</p>
    ${username}`;
  const setUp = secondFactor.draw(visit, {}, { title, about });
  const off = hasSecondFactor && operatorRole === null && turnOff.draw(visit, {}, { about: aboutOff });
  return html`<p>${hasSecondFactor ? words.held : words.none}</p>
    <div class="panels">${setUp}${off}</div>`;
}

/**
 * POST /me/second-factor: after a proof of identity, shows a new key; with that key and its first code, stores the key. The
 * form contains the key encrypted for this session (docs/decisions/console.md#sessions-are-rows).
 */
export const secondFactor = defineForm('POST /me/second-factor', {
  as: 'panel',
  words: ({ secondFactor: words }) => ({ submit: words.show }),
  fields(texts) {
    const { password, code } = proof(texts);
    const isOffer = ({ values }: FieldContext): boolean => values['offered'] !== undefined;
    const newCode = appCode(texts.signIn.code);
    return {
      offered: state(z.string().max(200).optional()),
      password: shownIf(password, (context) => !isOffer(context)),
      code: { ...code, draw: (context: FieldContext) => (isOffer(context) ? newCode : code).draw(context) },
    };
  },
  back: () => PATH,
  async run({ form: { offered, ...sent }, visit }, deps) {
    const { session } = signedIn(visit);
    const from = signInOriginOf(visit, session.email, deps);
    if (offered === undefined)
      return offerForm(visit, await reportRejectedProofs(deps, offerSecondFactor(deps, session, sent, from)));
    try {
      const done = confirmSecondFactor(deps, session, { offered, code: sent.code }, from);
      return replaceSession(visit, await reportRejectedProofs(deps, done), visit.texts.secondFactor.done);
    } catch (error) {
      const secret = deps.totpSecrets.offered(offered, session.id, deps.clock());
      if (!secret || !(error instanceof Refusal) || error.code !== 'UNAUTHORIZED') throw error;
      return offerForm(visit, { secret, sealed: offered }, visit.texts.faults['code.wrong']);
    }
  },
});

/** Turns the second factor off. */
export const turnOff = defineForm('POST /me/second-factor/off', {
  as: 'panel',
  words: (texts) => ({ ...formWords(texts.secondFactor, 'off'), isQuiet: true }),
  fields: (texts) => proof(texts),
  back: () => PATH,
  async run({ form, visit }, deps) {
    const { session } = signedIn(visit);
    const done = removeSecondFactor(deps, session, form, signInOriginOf(visit, session.email, deps));
    return replaceSession(visit, await reportRejectedProofs(deps, done), visit.texts.secondFactor.offDone);
  },
});

/** Shows the new key, with the field for its first code. */
function offerForm(visit: Visit, { secret, sealed }: OfferedSecret, refused?: string): Answer {
  const { secondFactor: words } = visit.texts;
  const { email } = signedIn(visit).session;
  const about = html`<p>${words.newAbout}</p>
    <div class="once">${appKey(visit, { email, secret })}</div>`;
  const beside = html`<a class="after-once" href="${PATH}">${words.leave}</a>`;
  const texts = { about, beside, submit: words.newSubmit };
  const form = secondFactor.draw(
    visit,
    {},
    { as: 'plain', ...texts, values: { offered: sealed }, focus: 'code' },
  );
  const why = refused !== undefined && html`<p class="flash failed" role="alert">${refused}</p>`;
  const body = html`<div class="narrow">${panel(null, html`${why}${form}`)}</div>`;
  return show(words.newTitle, body, refused === undefined ? {} : { status: 403 });
}

/** Sets the cookie of the new session, and redirects. */
function replaceSession({ cookies }: Visit, token: string, text: string): Answer {
  cookies.set('session', token);
  return redirect(PATH, { kind: 'done', text });
}

/** Reports a rejected proof of identity like a rejected sign-in, so that guessing raises the same alert. */
export async function reportRejectedProofs<T>({ onSignIn }: ConsoleDeps, action: Promise<T>): Promise<T> {
  try {
    return await action;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'RATE_LIMITED') onSignIn('limited');
    if (error instanceof Refusal && error.code === 'UNAUTHORIZED') onSignIn('refused');
    throw error;
  }
}
