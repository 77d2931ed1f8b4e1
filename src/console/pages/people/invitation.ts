import * as z from 'zod';
import { acceptInvitation, findInvitedPerson } from '../../../commands/people/users.ts';
import { invitationExpired } from '../../../commands/steps/people.ts';
import { isWebToken } from '../../../crypto/webTokens.ts';
import { html } from '../../../page/html.ts';
import { appKey, codeField } from '../../access/authenticatorApp.ts';
import { definePage, go, show } from '../../page.ts';
import { button, field, form, panel, usernameField } from '../../parts.ts';

const INVITED = {
  name: 'invitation',
  params: z.object({ token: z.string().refine(isWebToken) }),
} as const;

/** GET /invitation/{token}: the form for an invited person's password. Opening it does not use up the link. */
export const invitationPage = definePage({
  ...INVITED,
  route: 'GET /invitation/{token}',
  async handle({ params, visit }, deps) {
    const words = visit.texts.invitation;
    const invited = await findInvitedPerson(deps, params.token);
    if (!invited) throw invitationExpired();
    const { person, secret } = invited;
    const isOperator = person.operatorRole !== null;
    const content = html`<p>${words.about(person.email)}</p>
${usernameField(person.email)}
${field(words.password, { name: 'password', type: 'password', autocomplete: 'new-password', autofocus: true })}
<h2>${words.factorTitle}</h2>
<p>${isOperator ? words.factorNeeded : words.factorOptional}</p>
${appKey(visit, { email: person.email, secret })}
${codeField(visit.texts.signIn.code, { required: isOperator })}
${button(words.go)}`;
    const body = html`<div class="narrow">${panel(null, form(visit, `/invitation/${params.token}`, content))}</div>`;
    return show(words.title, body);
  },
});

/** POST /invitation/{token}: sets the password and uses up the link. */
export const sendInvitation = definePage({
  ...INVITED,
  route: 'POST /invitation/{token}',
  form: z.object({ password: z.string().max(1_000), code: z.string().max(20) }),
  back: ({ params }) => `/invitation/${params.token}`,
  async handle({ params, form: sent, visit }, deps) {
    await acceptInvitation(
      { ...deps, origin: { keyId: null, address: visit.address } },
      { token: params.token, password: sent.password, code: sent.code.trim() },
    );
    return go('/sign-in', { kind: 'done', text: visit.texts.invitation.accepted });
  },
});
