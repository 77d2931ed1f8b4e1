import * as z from 'zod';
import { changePassword, endSessions } from '../../../commands/people/sessions.ts';
import { listLiveSessions } from '../../../db/people/consoleSessions.ts';
import { html } from '../../../page/html.ts';
import { LANGUAGES } from '../../../words/console.ts';
import { browserName, moment } from '../../format.ts';
import { ownPath } from '../../links.ts';
import { definePage, go, show, signedIn, withActor } from '../../page.ts';
import { button, field, form, panel, table, usernameField } from '../../parts.ts';
import { rememberLanguage } from '../../serve.ts';
import { countRejectedProofs } from './secondFactor.ts';
import { signInPlaceOf } from './signIn.ts';

/** GET /me: the person's own data, sessions and password. */
export const mePage = definePage({
  name: 'me',
  route: 'GET /me',
  async handle({ visit }, { orm }) {
    const { me: words, secondFactor: factor } = visit.texts;
    const { session, viewer } = signedIn(visit);
    const sessions = await listLiveSessions(orm.em.fork(), session.personId, visit.now);
    const roles =
      viewer.kind === 'operator'
        ? [words.operator[viewer.role]]
        : viewer.memberships.map(({ accountName, role }) =>
            words.member(accountName, visit.texts.members.roles[role]),
          );
    const rows = sessions.map((one) => [
      browserName(one.browser) || visit.texts.never,
      html`<code>${one.address}</code>`,
      moment(one.createdAt),
      moment(one.seenAt),
      one.id === session.id
        ? words.here
        : form(
            visit,
            '/me/sessions',
            html`<input type="hidden" name="session" value="${one.id}">${button(words.end, 'quiet')}`,
            'inline',
          ),
    ]);
    const others =
      rows.length > 1 &&
      html`<div class="more">${form(visit, '/me/sessions', button(words.endOthers, 'quiet'), 'inline')}</div>`;
    const body = html`<p>${session.email} · ${roles.join(' · ')}</p>
${panel(words.sessions, html`${table(words.sessions, [words.browser, words.address, words.since, words.seen, words.act], rows)}${others}`)}
${
  session.method === 'password' &&
  html`<div class="panels">${panel(
    words.password,
    form(
      visit,
      '/me/password',
      html`${usernameField(session.email)}${field(words.old, { name: 'old', type: 'password', autocomplete: 'current-password' })}
${field(words.new, { name: 'password', type: 'password', autocomplete: 'new-password' })}
${button(words.change)}`,
    ),
  )}${panel(
    factor.title,
    html`<p>${session.hasSecondFactor ? factor.held : factor.none}</p><p><a href="/me/second-factor">${factor.manage}</a></p>`,
  )}</div>`
}`;
    return show(words.title, body, { live: ['people'] });
  },
});

/** POST /me/sessions: ends one of the person's sessions, or all others if none is named. */
export const sendEndSessions = definePage({
  name: 'me-sessions',
  route: 'POST /me/sessions',
  form: z.object({ session: z.uuid().optional() }),
  back: () => '/me',
  async handle({ form: sent, visit }, deps) {
    const { session } = signedIn(visit);
    const { me: words } = visit.texts;
    const which = sent.session === undefined ? { but: session.id } : { only: sent.session };
    await endSessions(withActor(deps, visit), { email: session.email, ...which });
    return go('/me', { kind: 'done', text: sent.session === undefined ? words.endedOthers : words.ended });
  },
});

/** POST /me/password. */
export const sendPassword = definePage({
  name: 'me-password',
  route: 'POST /me/password',
  form: z.object({ old: z.string().max(1_000), password: z.string().max(1_000) }),
  back: () => '/me',
  async handle({ form: sent, visit }, deps) {
    const { session } = signedIn(visit);
    const from = signInPlaceOf(visit, session.email, deps);
    await countRejectedProofs(deps, changePassword(withActor(deps, visit), session, sent, from));
    return go('/me', { kind: 'done', text: visit.texts.me.changed });
  },
});

/** POST /language: sets the language of this browser. */
export const sendLanguage = definePage({
  name: 'language',
  route: 'POST /language',
  form: z.object({ language: z.enum(LANGUAGES), to: z.string().max(2_000) }),
  async handle({ form: sent, visit }) {
    rememberLanguage(visit, sent.language);
    return go(ownPath(sent.to));
  },
});
