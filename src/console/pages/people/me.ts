import * as z from 'zod';
import { changePassword, endSessions } from '../../../commands/people/sessions.ts';
import { listLiveSessions } from '../../../db/people/consoleSessions.ts';
import { html } from '../../../page/html.ts';
import { LANGUAGES } from '../../../words/console.ts';
import { secret, subject } from '../../fields.ts';
import { defineForm } from '../../form.ts';
import { browserName, timeOf } from '../../format.ts';
import { ownPath } from '../../links.ts';
import { definePage, redirect, show, signedIn } from '../../page.ts';
import { panel, table, usernameField } from '../../parts.ts';
import { rememberLanguage } from '../../serve.ts';
import { reportRejectedProofs } from './secondFactor.ts';
import { signInOriginOf } from './signIn.ts';

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
      timeOf(one.createdAt),
      timeOf(one.seenAt),
      one.id === session.id ? words.here : sessionEnd.draw(visit, {}, { values: { session: one.id } }),
    ]);
    const heads = [words.browser, words.address, words.since, words.seen, words.act];
    const others =
      rows.length > 1 &&
      html`<div class="more">${sessionEnd.draw(visit, {}, { submit: words.endOthers })}</div>`;
    const body = html`<p>${session.email} · ${roles.join(' · ')}</p>
      ${panel(words.sessions, html`${table(words.sessions, heads, rows)}${others}`)}
      ${
        session.method === 'password' &&
        html`<div class="panels">
          ${passwordChange.draw(visit, {}, { about: usernameField(session.email) })}${panel(
            factor.title,
            html`<p>${session.hasSecondFactor ? factor.held : factor.none}</p>
              <p><a href="/me/second-factor">${factor.manage}</a></p>`,
          )}
        </div>`
      }`;
    return show(words.title, body, { live: ['people'] });
  },
});

/** Ends one of the person's sessions, or all others if none is named. */
export const sessionEnd = defineForm('POST /me/sessions', {
  as: 'inline',
  words: ({ me: words }) => ({ submit: words.end, isQuiet: true }),
  fields: () => ({ session: subject(z.uuid().optional()) }),
  back: () => '/me',
  async run({ form, visit }, deps) {
    const { session } = signedIn(visit);
    const selection = form.session === undefined ? { but: session.id } : { only: form.session };
    await endSessions(deps, { email: session.email, ...selection });
    return form.session === undefined ? visit.texts.me.endedOthers : visit.texts.me.ended;
  },
});

export const passwordChange = defineForm('POST /me/password', {
  as: 'panel',
  words: ({ me: words }) => ({ title: words.password, submit: words.change }),
  fields: ({ me: words }) => ({
    old: secret(words.old, { autocomplete: 'current-password' }),
    password: secret(words.new),
  }),
  back: () => '/me',
  async run({ form, visit }, deps) {
    const { session } = signedIn(visit);
    const from = signInOriginOf(visit, session.email, deps);
    await reportRejectedProofs(deps, changePassword(deps, session, form, from));
    return visit.texts.me.changed;
  },
});

/** POST /language: sets the language of this browser. */
export const sendLanguage = definePage({
  name: 'language',
  route: 'POST /language',
  form: z.object({ language: z.enum(LANGUAGES), to: z.string().max(2_000) }),
  async handle({ form: sent, visit }) {
    rememberLanguage(visit, sent.language);
    return redirect(ownPath(sent.to));
  },
});
