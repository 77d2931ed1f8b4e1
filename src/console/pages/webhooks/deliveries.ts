import type { ListedDelivery } from '../../../db/webhooks/deliveryList.ts';
import { listWebhooksOfAccounts } from '../../../db/webhooks/webhooks.ts';
import { EVENT_NAMES } from '../../../domain/webhooks/events.ts';
import { DELIVERIES } from '../../../lists/deliveries.ts';
import { filterValues } from '../../../lists/list.ts';
import { type Html, html } from '../../../page/html.ts';
import { accountsOf } from '../../access/access.ts';
import { enterprisePath } from '../../access/enterpriseContext.ts';
import { filterFields, filterSchemas, listQuery } from '../../filters.ts';
import { timeOf } from '../../format.ts';
import { figures, type Headings, showList } from '../../lists.ts';
import { definePage, signedIn, type Visit } from '../../page.ts';
import { badge } from '../../parts.ts';

const { environment: _, ...FILTERS } = filterSchemas(DELIVERIES);
const Query = listQuery(FILTERS);

/** The filters of the list on a webhook's page. */
export const OUTCOME_FILTERS = { status: FILTERS.status, event: FILTERS.event } as const;
export const WebhookDeliveries = listQuery(OUTCOME_FILTERS);

/** GET /deliveries: deliveries to all webhooks that the viewer sees. */
export const deliveriesPage = definePage({
  name: 'deliveries',
  route: 'GET /deliveries',
  query: Query,
  async handle({ query, visit }, deps) {
    const { webhooks: words } = visit.texts;
    const accounts = accountsOf(signedIn(visit).viewer);
    const webhooks =
      accounts === null ? undefined : await listWebhooksOfAccounts(deps.orm.em.fork(), accounts);
    return showList(visit, deps, DELIVERIES, {
      ...deliveryListOptions(visit, { withWebhook: true, withAccount: accounts === null }),
      title: words.deliveries,
      path: '/deliveries',
      query,
      search: { ...filterValues(DELIVERIES, query), accounts },
      filters: filterFields(FILTERS, {
        ...outcomeFilterTexts(visit),
        webhook: webhooks
          ? [words.webhook, webhooks.map(({ id, url }) => [id, url] as const)]
          : words.webhook,
        rut: words.enterprise,
        cfe: words.cfe,
        since: words.from,
        until: words.to,
      }),
      live: ['deliveries'],
    });
  },
});

/** Returns the texts of the filters by status and event. */
export const outcomeFilterTexts = ({ texts: { webhooks: words } }: Visit) =>
  ({
    status: [words.status, words.statuses],
    event: [words.event, EVENT_NAMES.map((event) => [event, event] as const)],
  }) as const;

/** Returns how deliveries are shown on the page of all deliveries and on a webhook's page. */
export function deliveryListOptions(
  visit: Visit,
  { withWebhook, withAccount }: { withWebhook: boolean; withAccount: boolean },
) {
  const { webhooks: words, environments } = visit.texts;
  return {
    headings: {
      created_at: [words.at, ({ createdAt }) => timeOf(createdAt)],
      event: [words.event, ({ event }) => html`<code>${event}</code>`],
      status: [words.status, (row) => deliveryMark(visit, row)],
      url: withWebhook && [words.webhook, ({ url }) => html`<span class="url">${url}</span>`],
      account: withAccount && words.account,
      rut: [
        words.enterprise,
        ({ rut, environment }) =>
          html`${rut && renderEnterprise(visit, rut)} <span class="soft">${environments[environment]}</span>`,
      ],
      cfe_id: words.cfe,
      attempts: figures(words.attempts),
      last_answer: [words.last, ({ lastResult }) => describeResult(visit, lastResult)],
      next_attempt_at: [words.next, (row) => nextAttempt(visit, row)],
    } satisfies Headings<ListedDelivery, typeof DELIVERIES.columns>,
    href: ({ id }: ListedDelivery) => `/deliveries/${id}`,
    empty: words.deliveriesNone,
    emptyAtFirst: words.deliveriesNoneYet,
  };
}

/** Renders an enterprise; only for operators as a link, because an account may have lost its role at the enterprise. */
export const renderEnterprise = (visit: Visit, rut: string): Html | string =>
  signedIn(visit).viewer.kind === 'operator' ? html`<a href="${enterprisePath(rut)}">${rut}</a>` : rut;

/** Renders the status of a delivery; a failed attempt shows as a pending retry. */
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
export function describeResult({ texts: { webhooks: words } }: Visit, result: string | null): string {
  if (result === null) return '';
  return Object.hasOwn(words.errors, result) ? words.errors[result as keyof typeof words.errors] : result;
}

/** Renders the time of the next attempt; null once the delivery is final. */
export function nextAttempt(
  { texts: { webhooks: words }, now }: Visit,
  { status, nextAttemptAt }: Pick<ListedDelivery, 'status' | 'nextAttemptAt'>,
): Html | null {
  if (status !== 'PENDING') return null;
  return nextAttemptAt && nextAttemptAt > now ? timeOf(nextAttemptAt) : html`${words.nextNow}`;
}
