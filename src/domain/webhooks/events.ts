/**
 * The events (docs/contract.md#events), one row each, for webhooks, openapi.json, the console and the command line;
 * webhookEvents.ts creates their `data`.
 */

/** An event without its `data`. */
interface EventRow {
  /** The meaning of the event, in one sentence. */
  readonly says: string;
  /** Further explanation. */
  readonly more?: string;
  /** Whether webhooks can select the event; otherwise it is sent on request. */
  readonly isSelectable: boolean;
  /** The receivers, in a sentence or two. */
  readonly receivers: string;
  /** Whether the event has the `cfe_id` of one CFE. Such events are frequent: they are stored only if a webhook selects them. */
  readonly isOfOneCfe: boolean;
}

const ENTERPRISE_RECEIVERS =
  'Sent to every webhook that selected it, of accounts that are OWNER or MEMBER of the enterprise.';

const enterpriseEvent = <const Row extends Pick<EventRow, 'says'> & Partial<EventRow>>(row: Row) => ({
  isSelectable: true as const,
  receivers: ENTERPRISE_RECEIVERS,
  isOfOneCfe: false,
  ...row,
});

const EVENTS = {
  'enterprise.updated': enterpriseEvent({
    says: 'The enterprise object has changed.',
    more: 'Creation and new last numbers of CAEs are not changes. A change of `role` is a separate event for the account whose role has changed.',
    receivers: `${ENTERPRISE_RECEIVERS} A change of \`role\` is sent only to the account whose role has changed, with any role.`,
  }),
  'payment.created': enterpriseEvent({ says: 'A plan with a price was chosen: a payment is due.' }),
  'efactura.login': enterpriseEvent({ says: 'A check of the e-invoicing login has finished.' }),
  'cfe.updated': enterpriseEvent({ says: 'The status of a CFE has changed.', isOfOneCfe: true }),
  'cae.low': enterpriseEvent({
    says: 'The numbers of a type run low.',
    more: 'They last less than 7 days, are less than a tenth of the CAEs, or are used up.',
  }),
  'cae.expiring': enterpriseEvent({ says: 'A CAE with numbers left expires in 30, 7 or 1 days.' }),
  'certificate.expiring': enterpriseEvent({ says: 'The certificate expires in 30, 7 or 1 days.' }),
  'daily_report.updated': enterpriseEvent({ says: 'The status of a daily report has changed.' }),
  'homologation.updated': enterpriseEvent({
    says: 'The status of a test run has changed.',
    more: 'Starting one is not a change.',
  }),
  'receipt.delivered': enterpriseEvent({
    says: 'The mail server accepted an e-mail with a receipt.',
    isOfOneCfe: true,
  }),
  'receipt.failed': enterpriseEvent({
    says: 'An e-mail with a receipt was refused, or the last retry failed.',
    isOfOneCfe: true,
  }),
  'authority.updated': {
    says: 'The tax authority has stopped answering, or answers again.',
    isSelectable: true,
    receivers: 'Sent to every webhook of any account that selected it.',
    isOfOneCfe: false,
  },
  'webhook.test': {
    says: 'A test of the webhook was requested; nothing has happened.',
    isSelectable: false,
    receivers: 'Sent only to the tested webhook, regardless of the events that it has selected.',
    isOfOneCfe: false,
  },
} as const satisfies Readonly<Record<string, EventRow>>;

export type EventName = keyof typeof EVENTS;
export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

/** An event that a webhook may select. */
export type SelectableEvent = {
  [N in EventName]: (typeof EVENTS)[N]['isSelectable'] extends true ? N : never;
}[EventName];
export const SELECTABLE_EVENTS = EVENT_NAMES.filter(
  (name): name is SelectableEvent => EVENTS[name].isSelectable,
);

export const eventRow = (name: EventName): EventRow => EVENTS[name];
