import * as z from 'zod';
import {
  acceptMembershipAsNew,
  acceptMembershipSignedIn,
  findMemberInvitation,
} from '../../../commands/people/members.ts';
import { invitationExpired } from '../../../commands/steps/people.ts';
import { isWebToken } from '../../../crypto/webTokens.ts';
import { type Html, html } from '../../../page/html.ts';
import { appKey, codeField } from '../../access/authenticatorApp.ts';
import { link } from '../../links.ts';
import { definePage, go, show, type Visit, withActor } from '../../page.ts';
import { button, field, form, panel, usernameField } from '../../parts.ts';

const JOIN = {
  name: 'join',
  params: z.object({ token: z.string().refine(isWebToken) }),
} as const;

/** GET /join/{token}: an invitation to an account. Opening it does not use up the link. */
export const joinPage = definePage({
  ...JOIN,
  route: 'GET /join/{token}',
  async handle({ params, visit }, deps) {
    const { join: words, rolesAbout } = visit.texts.members;
    const open = await findMemberInvitation(deps, params.token);
    if (!open) throw invitationExpired();
    const about = html`<p>${words.about(open.accountName, rolesAbout[open.role])}</p>`;
    const content = open.setsPassword
      ? form(visit, `/join/${params.token}`, html`${about}${passwordFields(visit, open)}`)
      : acceptForm(visit, params.token, open.email, about);
    return show(words.title, html`<div class="narrow">${panel(null, content)}</div>`);
  },
});

/** Renders the fields for a new person: a password, and an optional second factor. */
function passwordFields(visit: Visit, { email, secret }: { email: string; secret: Buffer }): Html {
  const { invitation: words, signIn } = visit.texts;
  return html`<p>${words.about(email)}</p>
${usernameField(email)}
${field(words.password, { name: 'password', type: 'password', autocomplete: 'new-password', autofocus: true })}
<h2>${words.factorTitle}</h2>
<p>${words.factorOptional}</p>
${appKey(visit, { email, secret })}
${codeField(signIn.code, { required: false })}
${button(words.go)}`;
}

/** Renders the form for a person with a login, who accepts by signing in. */
function acceptForm(visit: Visit, token: string, email: string, about: Html): Html {
  const { join: words } = visit.texts.members;
  if (visit.signedIn?.session.email === email) {
    const content = html`${about}<p>${words.as(email)}</p>${button(words.go)}`;
    return form(visit, `/join/${token}`, content);
  }
  const to = link('/sign-in', { to: `/join/${token}` });
  return html`<div>${about}<p>${words.signIn(email)}</p>${!visit.signedIn && html`<p><a href="${to}">${words.signInGo}</a></p>`}</div>`;
}

/** POST /join/{token}: accepts the invitation and uses up the link. */
export const sendJoin = definePage({
  ...JOIN,
  route: 'POST /join/{token}',
  form: z.object({ password: z.string().max(1_000).optional(), code: z.string().max(20).default('') }),
  back: ({ params }) => `/join/${params.token}`,
  async handle({ params: { token }, form: { password, code }, visit }, deps) {
    const { texts, address, signedIn } = visit;
    if (password !== undefined) {
      const from = { ...deps, origin: { keyId: null, address } };
      await acceptMembershipAsNew(from, { token, password, code: code.trim() });
      return go('/sign-in', { kind: 'done', text: texts.invitation.accepted });
    }
    if (!signedIn) return go(link('/sign-in', { to: `/join/${token}` }));
    await acceptMembershipSignedIn(withActor(deps, visit), { token, personId: signedIn.session.personId });
    return go('/', { kind: 'done', text: texts.members.join.done });
  },
});
