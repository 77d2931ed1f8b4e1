import type { EntityManager } from '@mikro-orm/postgresql';
import type * as z from 'zod';
import { newestFirst } from '../../../db/page.ts';
import type { ViewerAccounts } from '../../../db/people/roles.ts';
import {
  type DeliveryListFilter,
  listDeliveryPage as deliveriesOf,
  type ListedDelivery,
} from '../../../db/webhooks/deliveryList.ts';
import { listWebhooksOfAccounts } from '../../../db/webhooks/webhooks.ts';
import { EVENT_NAMES } from '../../../domain/webhooks/events.ts';
import { DELIVERY_FILTERS, deliverySearchOf } from '../../../lists/deliveries.ts';
import { nameFilters } from '../../../lists/list.ts';
import { type Html, html } from '../../../page/html.ts';
import { accountsOf } from '../../access/access.ts';
import { enterprisePath } from '../../access/atEnterprise.ts';
import { timeOf } from '../../format.ts';
import {
  type Column,
  column,
  type Filter,
  figureColumn,
  fileColumn,
  filterFields,
  type List,
  listQuery,
  showList,
} from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge } from '../../parts.ts';

const FILTERS = nameFilters(DELIVERY_FILTERS, {
  status: 'status',
  event: 'event',
  webhook: 'webhook',
  rut: 'rut',
  cfe: 'cfe',
  from: 'since',
  to: 'until',
});
type FilterName = keyof typeof FILTERS.schemas;
const Query = listQuery(FILTERS.schemas);

/** The query of the list on a webhook's page. */
export const WebhookDeliveries = listQuery({
  status: FILTERS.schemas.status,
  event: FILTERS.schemas.event,
});

/** GET /deliveries: deliveries to all webhooks that the viewer sees. */
export const deliveriesPage = definePage({
  name: 'deliveries',
  route: 'GET /deliveries',
  query: Query,
  async handle({ query, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const em = deps.orm.em.fork();
    const accounts = accountsOf(signedIn(visit).viewer);
    const webhooks = accounts === null ? undefined : await listWebhooksOfAccounts(em, accounts);
    const list = deliveryList(visit, em, {
      path: '/deliveries',
      accounts,
      query,
      filters: ['status', 'event', 'webhook', 'rut', 'cfe', 'from', 'to'],
      webhooks,
    });
    return showList(visit, deps, { ...list, title: words.deliveries, live: ['deliveries'] });
  },
});

/** Returns a list of deliveries to the webhooks of `accounts`, filtered by the query and by `fixed`. */
export function deliveryList(
  visit: Visit,
  em: EntityManager,
  options: {
    path: string;
    accounts: ViewerAccounts;
    query: z.output<typeof Query>;
    fixed?: DeliveryListFilter;
    filters: readonly FilterName[];
    webhooks?: readonly { id: string; url: string }[] | undefined;
  },
): List<ListedDelivery> {
  const { path, accounts, query, fixed, filters } = options;
  const { webhooks: words } = visit.texts;
  const filter: DeliveryListFilter = { ...deliverySearchOf(FILTERS.valuesOf(query)), ...fixed };
  return {
    name: 'deliveries',
    label: words.deliveries,
    path,
    query,
    filters: filtersOf(visit, options.webhooks).filter(({ name }) => filters.some((one) => one === name)),
    columns: columnsOf(visit, {
      withWebhook: fixed?.webhookId === undefined,
      withAccount: accounts === null && fixed?.webhookId === undefined,
    }),
    read: (page) => deliveriesOf(em, accounts, filter, page),
    key: newestFirst('uuid'),
    href: ({ id }) => `/deliveries/${id}`,
    empty: words.deliveriesNone,
    emptyAtFirst: words.deliveriesNoneYet,
  };
}

/** All filters, in the order of the page. */
function filtersOf(
  { texts: { webhooks: words } }: Visit,
  webhooks: readonly { id: string; url: string }[] | undefined,
): Filter[] {
  return filterFields(FILTERS.schemas, {
    status: [words.status, words.statuses],
    event: [words.event, EVENT_NAMES.map((event) => [event, event] as const)],
    webhook: webhooks ? [words.webhook, webhooks.map(({ id, url }) => [id, url] as const)] : words.webhook,
    rut: words.enterprise,
    cfe: words.cfe,
    from: words.from,
    to: words.to,
  });
}

function columnsOf(
  visit: Visit,
  { withWebhook, withAccount }: { withWebhook: boolean; withAccount: boolean },
): Column<ListedDelivery>[] {
  const { webhooks: words } = visit.texts;
  const webhook = column<ListedDelivery>(
    'url',
    words.webhook,
    'url',
    ({ url }) => html`<span class="url">${url}</span>`,
  );
  const account = column<ListedDelivery>('account', words.account, 'accountName');
  return [
    column('created_at', words.at, 'createdAt', ({ createdAt }) => timeOf(createdAt)),
    fileColumn('delivery_id', words.id, 'id'),
    column('event', words.event, 'event', ({ event }) => html`<code>${event}</code>`),
    column('status', words.status, 'status', (row) => deliveryMark(visit, row)),
    ...(withWebhook ? [webhook] : []),
    ...(withAccount ? [account] : []),
    column(
      'rut',
      words.enterprise,
      'rut',
      ({ rut, environment }) =>
        html`${rut && enterpriseOf(visit, rut)}
          <span class="soft">${visit.texts.environments[environment]}</span>`,
    ),
    column('cfe_id', words.cfe, 'cfeId'),
    fileColumn('environment', words.productionOrSandbox, 'environment'),
    ...attemptColumns(visit),
  ];
}

/** Renders the CFE without a link for accounts that have since lost their role at its enterprise. */
export const enterpriseOf = (visit: Visit, rut: string): Html | string =>
  signedIn(visit).viewer.kind === 'operator' ? html`<a href="${enterprisePath(rut)}">${rut}</a>` : rut;

/** Renders the number of attempts and the last result. */
function attemptColumns(visit: Visit): Column<ListedDelivery>[] {
  const { webhooks: words } = visit.texts;
  return [
    figureColumn('attempts', words.attempts, 'attempts'),
    column('last_answer', words.last, 'lastResult', ({ lastResult }) => resultWords(visit, lastResult)),
    column('next_attempt_at', words.next, 'nextAttemptAt', (row) => nextAttempt(visit, row)),
  ];
}

/** Renders the state of a delivery; one that waits for a retry shows that it failed. */
export function deliveryMark(
  { texts: { webhooks: words } }: Visit,
  { status, nextAttemptAt }: Pick<ListedDelivery, 'status'> & { nextAttemptAt?: Date | null },
): Html {
  if (status === 'PENDING' && nextAttemptAt) return badge(words.refusedSoFar, 'wait');
  return badge(
    words.statuses[status],
    status === 'DELIVERED' ? 'good' : status === 'FAILED' ? 'bad' : 'wait',
  );
}

/** Describes an attempt's result: the HTTP status, or why there was no response. */
export function resultWords({ texts: { webhooks: words } }: Visit, result: string | null): string {
  if (result === null) return '';
  return Object.hasOwn(words.errors, result) ? words.errors[result as keyof typeof words.errors] : result;
}

/** Renders the time of the next attempt; empty once the delivery is final. */
export function nextAttempt(
  { texts: { webhooks: words }, now }: Visit,
  { status, nextAttemptAt }: Pick<ListedDelivery, 'status' | 'nextAttemptAt'>,
): Html | null {
  if (status !== 'PENDING') return null;
  return nextAttemptAt && nextAttemptAt > now ? timeOf(nextAttemptAt) : html`${words.nextNow}`;
}
