import { acceptInvitation, findInvitedPerson } from '../../../commands/people/users.ts';
import { invitationExpired } from '../../../commands/steps/people.ts';
import { html } from '../../../page/html.ts';
import { appKey } from '../../access/authenticatorApp.ts';
import { appCode, secret } from '../../fields.ts';
import { defineForm } from '../../form.ts';
import { definePage, redirect, show, type Visit } from '../../page.ts';
import { panel, usernameField } from '../../parts.ts';

/** GET /invitation/{token}: the form for an invited person's password. Opening it does not use up the link. */
export const invitationPage = definePage({
  name: 'invitation',
  route: 'GET /invitation/{token}',
  async handle({ params, visit }, deps) {
    const words = visit.texts.invitation;
    const invited = await findInvitedPerson(deps, params.token);
    if (!invited) throw invitationExpired();
    const { person, secret } = invited;
    const isOperator = person.operatorRole !== null;
    const aboutFactor = isOperator ? words.factorNeeded : words.factorOptional;
    const drawing = drawingForNewPerson(visit, { email: person.email, secret }, aboutFactor);
    const optional = isOperator ? [] : (['code'] as const);
    const form = invitation.draw(visit, params, { ...drawing, optional });
    return show(words.title, html`<div class="narrow">${panel(null, form)}</div>`);
  },
});

/** Returns what a page gives a form that sets the first password, with the key for a second factor. */
export function drawingForNewPerson(
  visit: Visit,
  person: { readonly email: string; readonly secret: Uint8Array },
  aboutFactor: string,
) {
  const { invitation: words } = visit.texts;
  const factor = html`<h2>${words.factorTitle}</h2>
    <p>${aboutFactor}</p>
    ${appKey(visit, person)}`;
  return {
    about: html`<p>${words.about(person.email)}</p>
      ${usernameField(person.email)}`,
    before: { code: factor },
    focus: 'password',
  } as const;
}

/** Sets the password and uses up the link. */
export const invitation = defineForm('POST /invitation/{token}', {
  words: ({ invitation: words }) => ({ submit: words.submit }),
  fields: ({ invitation: words, signIn }) => ({
    password: secret(words.password),
    code: appCode(signIn.code),
  }),
  back: ({ params: { token } }) => `/invitation/${token}`,
  async run({ params: { token }, form: { password, code }, visit }, deps) {
    await acceptInvitation(deps, { token, password, code: code.trim() });
    return redirect('/sign-in', { kind: 'done', text: visit.texts.invitation.accepted });
  },
});
