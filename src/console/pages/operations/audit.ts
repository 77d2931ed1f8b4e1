import { type AuditRow, listAuditPage } from '../../../db/operations/auditPage.ts';
import { BY_SERIAL } from '../../../db/page.ts';
import { AUDIT_ACTIONS, personOf } from '../../../domain/operations/audit.ts';
import { formatCfeId } from '../../../domain/receipts/cfeId.ts';
import { AUDIT_FILTERS, auditSearchOf } from '../../../lists/audit.ts';
import { nameFilters } from '../../../lists/list.ts';
import { type Html, html } from '../../../page/html.ts';
import { findOperatorsAccount, SoughtAccount } from '../../accounts.ts';
import { timeOf } from '../../format.ts';
import { type Column, column, fileColumn, filterFields, listQuery, showList } from '../../lists.ts';
import { definePage, type Visit } from '../../page.ts';
import { optionsOf } from '../../parts.ts';

const SHARED = nameFilters(AUDIT_FILTERS, {
  person: 'person',
  rut: 'rut',
  subject: 'subject',
  action: 'action',
  from: 'since',
  to: 'until',
});
const FILTERS = { ...SHARED.schemas, account: SoughtAccount } as const;

/** GET /audit: actions with their actor, subject, time and reason; newest first. */
export const auditListPage = definePage({
  name: 'audit',
  route: 'GET /audit',
  query: listQuery(FILTERS),
  async handle({ query, visit }, deps) {
    const { audit: words } = visit.texts;
    const account = await findOperatorsAccount(visit, deps, '/audit', query);
    if ('kind' in account) return account;
    const search = { ...auditSearchOf(SHARED.valuesOf(query)), accountId: account.id };
    return showList(visit, deps, {
      title: words.title,
      live: ['audit'],
      name: 'audit',
      path: '/audit',
      query,
      filters: filterFields(FILTERS, {
        person: words.person,
        rut: 'RUT',
        subject: words.subject,
        account: visit.texts.accounts.sought,
        action: [
          words.action,
          optionsOf(AUDIT_ACTIONS, words.actions).toSorted(([, a], [, b]) =>
            a.localeCompare(b, visit.language),
          ),
        ],
        from: words.from,
        to: words.to,
      }),
      columns: columnsOf(visit),
      read: (page) => listAuditPage(deps.orm.em.fork(), search, page),
      key: BY_SERIAL,
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

function columnsOf(visit: Visit): Column<AuditRow>[] {
  const { audit: words } = visit.texts;
  return [
    column('at', words.at, 'at', ({ at }) => timeOf(at)),
    column('actor', words.who, 'actor', (row) => whoCell(visit, row)),
    column(
      'action',
      words.action,
      'action',
      ({ action }) => html`${actionWords(visit, action)} <code class="soft">${action}</code>`,
    ),
    column('subject', words.about, 'subject', ({ cfe, subject }) =>
      cfe ? formatCfeId(cfe) : html`<code class="url">${subject}</code>`,
    ),
    column(
      'rut',
      words.enterprise,
      'rut',
      ({ rut, legalName }) => rut && html`${legalName} <span class="soft">${rut}</span>`,
    ),
    column(
      'account_id',
      words.account,
      'accountId',
      ({ accountName, accountId }) => accountName ?? accountId,
    ),
    column('reason', words.reason, 'reason'),
    column('outcome', words.outcome, 'outcome', ({ outcome }) => outcome && html`<code>${outcome}</code>`),
    fileColumn('address', words.address, 'address'),
    fileColumn('request_id', words.request, 'requestId'),
  ];
}

/** Describes an action; shows only the code of one that this version does not know. */
function actionWords({ texts: { audit: words } }: Visit, action: string): string | null {
  const known = AUDIT_ACTIONS.find((one) => one === action);
  return known ? words.actions[known] : null;
}

/** Describes the actor: a person with their entry point, an account by name, the service, or unknown. */
function whoCell({ texts: { audit: words } }: Visit, { actor, actorName, address }: AuditRow): Html {
  const person = personOf(actor);
  const [kind = ''] = actor.split(':');
  const way = Object.hasOwn(words.by, kind) ? words.by[kind as keyof typeof words.by] : '';
  const own = { service: words.service, unverified: words.unverified };
  const name = person ?? actorName ?? (Object.hasOwn(own, actor) ? own[actor as keyof typeof own] : actor);
  return html`${name} <span class="soft">${[way, address].filter(Boolean).join(' · ')}</span>`;
}
