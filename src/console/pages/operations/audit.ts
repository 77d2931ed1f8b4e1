import type { AuditRow } from '../../../db/operations/auditPage.ts';
import { AUDIT_ACTIONS, personOf } from '../../../domain/operations/audit.ts';
import { formatCfeId } from '../../../domain/receipts/cfeId.ts';
import { AUDIT } from '../../../lists/audit.ts';
import { filterValues } from '../../../lists/list.ts';
import { type Html, html } from '../../../page/html.ts';
import { AccountSearch, resolveAccountFilter } from '../../accounts.ts';
import { filterFields, filterSchemas, listQuery } from '../../filters.ts';
import { timeOf } from '../../format.ts';
import { type Headings, showList } from '../../lists.ts';
import { definePage, type Visit } from '../../page.ts';
import { optionsOf } from '../../parts.ts';

const FILTERS = { ...filterSchemas(AUDIT), account: AccountSearch } as const;

/** GET /audit: who did what, newest first. */
export const auditListPage = definePage({
  name: 'audit',
  route: 'GET /audit',
  query: listQuery(FILTERS),
  async handle({ query, visit }, deps) {
    const { audit: words } = visit.texts;
    const account = await resolveAccountFilter(visit, deps, '/audit', query);
    if ('kind' in account) return account;
    return showList(visit, deps, AUDIT, {
      title: words.title,
      live: ['audit'],
      path: '/audit',
      query,
      search: { ...filterValues(AUDIT, query), accountId: account.id },
      filters: filterFields(FILTERS, {
        person: words.person,
        rut: 'RUT',
        subject: words.subject,
        account: visit.texts.accounts.accountSearch,
        action: [
          words.action,
          optionsOf(AUDIT_ACTIONS, words.actions).toSorted(([, a], [, b]) =>
            a.localeCompare(b, visit.language),
          ),
        ],
        since: words.from,
        until: words.to,
      }),
      headings: headingsOf(visit),
      href: subjectPath,
      empty: words.empty,
    });
  },
});

/** Returns the page of the changed object. */
function subjectPath({ cfe, rut, accountId }: AuditRow): string | null {
  if (cfe && rut !== null) return `/cfes/${rut}/${cfe.environment}/${formatCfeId(cfe)}`;
  if (rut !== null) return `/enterprises/${rut}`;
  return accountId === null ? null : `/accounts/${accountId}`;
}

function headingsOf(visit: Visit): Headings<AuditRow, typeof AUDIT.columns> {
  const { audit: words } = visit.texts;
  return {
    at: [words.at, ({ at }) => timeOf(at)],
    actor: [words.who, (row) => renderActor(visit, row)],
    action: [
      words.action,
      ({ action }) => html`${describeAction(visit, action)} <code class="soft">${action}</code>`,
    ],
    subject: [
      words.about,
      ({ cfe, subject }) => (cfe ? formatCfeId(cfe) : html`<code class="url">${subject}</code>`),
    ],
    rut: [
      words.enterprise,
      ({ rut, legalName }) => rut && html`${legalName} <span class="soft">${rut}</span>`,
    ],
    account_id: [words.account, ({ accountName, accountId }) => accountName ?? accountId],
    reason: words.reason,
    outcome: [words.outcome, ({ outcome }) => outcome && html`<code>${outcome}</code>`],
  };
}

/** Describes an action; null if this version does not know it. */
function describeAction({ texts: { audit: words } }: Visit, action: string): string | null {
  const known = AUDIT_ACTIONS.find((name) => name === action);
  return known ? words.actions[known] : null;
}

/** Renders the actor (a person, an account, the service, or unverified), and where the action came from. */
function renderActor({ texts: { audit: words } }: Visit, { actor, actorName, address }: AuditRow): Html {
  const [kind = ''] = actor.split(':');
  const entryPoint = Object.hasOwn(words.by, kind) ? words.by[kind as keyof typeof words.by] : '';
  const fixedName = actor === 'service' || actor === 'unverified' ? words[actor] : actor;
  const name = personOf(actor) ?? actorName ?? fixedName;
  return html`${name} <span class="soft">${[entryPoint, address].filter(Boolean).join(' · ')}</span>`;
}
