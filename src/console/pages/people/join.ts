import * as z from 'zod';
import {
  acceptMembershipAsNew,
  acceptMembershipSignedIn,
  findMemberInvitation,
} from '../../../commands/people/members.ts';
import { invitationExpired } from '../../../commands/steps/people.ts';
import { type Html, html } from '../../../page/html.ts';
import { appCode, secret } from '../../fields.ts';
import { defineForm } from '../../form.ts';
import { link } from '../../links.ts';
import { definePage, redirect, show, type Visit, withActor } from '../../page.ts';
import { button, panel, renderForm } from '../../parts.ts';
import { drawingForNewPerson } from './invitation.ts';

/** GET /join/{token}: an invitation to an account. Opening the page does not use up the link. */
export const joinPage = definePage({
  name: 'join',
  route: 'GET /join/{token}',
  async handle({ params, visit }, deps) {
    const { join: words, rolesAbout } = visit.texts.members;
    const invited = await findMemberInvitation(deps, params.token);
    if (!invited) throw invitationExpired();
    const about = html`<p>${words.about(invited.accountName, rolesAbout[invited.role])}</p>`;
    const content = invited.setsPassword
      ? newPersonForm(visit, params.token, invited, about)
      : acceptForm(visit, params.token, invited.email, about);
    return show(words.title, html`<div class="narrow">${panel(null, content)}</div>`);
  },
});

/** Renders the form for a new person: a password, and an optional second factor. */
function newPersonForm(
  visit: Visit,
  token: string,
  invited: { readonly email: string; readonly secret: Uint8Array },
  aboutAccount: Html,
): Html {
  const { invitation: words } = visit.texts;
  const drawing = drawingForNewPerson(visit, invited, words.factorOptional);
  const about = html`${aboutAccount}${drawing.about}`;
  return join.draw(visit, { token }, { ...drawing, about, submit: words.submit, optional: ['code'] });
}

/** Renders the form for a person who can sign in; before sign-in, the link to it. */
function acceptForm(visit: Visit, token: string, email: string, about: Html): Html {
  const { join: words } = visit.texts.members;
  if (visit.signedIn?.session.email === email) {
    const content = html`${about}
      <p>${words.as(email)}</p>
      ${button(words.submit)}`;
    return renderForm(visit, `/join/${token}`, content);
  }
  const to = link('/sign-in', { to: `/join/${token}` });
  return html`<div>
    ${about}
    <p>${words.signIn(email)}</p>
    ${!visit.signedIn && html`<p><a href="${to}">${words.signInSubmit}</a></p>`}
  </div>`;
}

/** Accepts the invitation and uses up the link. A signed-in person sends no password. */
export const join = defineForm('POST /join/{token}', {
  fields: ({ invitation: words, signIn }) => ({
    password: { ...secret(words.password), schema: z.string().max(1_000).optional() },
    code: appCode(signIn.code),
  }),
  back: ({ params: { token } }) => `/join/${token}`,
  async run({ params: { token }, form: { password, code }, visit }, deps) {
    const { texts, signedIn } = visit;
    if (password !== undefined) {
      await acceptMembershipAsNew(deps, { token, password, code: code.trim() });
      return redirect('/sign-in', { kind: 'done', text: texts.invitation.accepted });
    }
    if (!signedIn) return redirect(link('/sign-in', { to: `/join/${token}` }));
    await acceptMembershipSignedIn(withActor(deps, visit), { token, personId: signedIn.session.personId });
    return redirect('/', { kind: 'done', text: texts.members.join.done });
  },
});
