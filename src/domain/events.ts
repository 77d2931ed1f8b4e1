/**
 * The events (docs/contract.md#events): one row each, of which everything else reads: what webhooks may select, who is told,
 * what openapi.json, the console and the command line say of it. The `data` of each is made in webhookEvents.ts.
 */

/** What is to be known of an event, beside its `data`. */
interface EventRow {
  /** What it tells, in a sentence. */
  readonly says: string;
  /** What else is to be known of it. */
  readonly more?: string;
  /** A webhook gets it by selecting it; else by being asked for. */
  readonly isSelectable: boolean;
  /** Who gets it, in a sentence or two. */
  readonly receivers: string;
  /** It is about one CFE and names it by `cfe_id`. A CFE has several of these: they are kept only where a webhook selects them. */
  readonly isOfOneCfe: boolean;
}

const OF_ENTERPRISE =
  'Sent to every webhook that selected it, of accounts that are OWNER or MEMBER of the enterprise.';

const ofEnterprise = <const Row extends Pick<EventRow, 'says'> & Partial<EventRow>>(row: Row) => ({
  isSelectable: true as const,
  receivers: OF_ENTERPRISE,
  isOfOneCfe: false,
  ...row,
});

const EVENTS = {
  'enterprise.updated': ofEnterprise({
    says: 'The enterprise object has changed.',
    more: 'Creation, and the last number of a CAE, are no changes. A change of `role` is told to the account whose role it is, in an event of its own.',
    receivers: `${OF_ENTERPRISE} A change of \`role\` goes to the account whose role it is, alone, whatever that role is.`,
  }),
  'payment.created': ofEnterprise({ says: 'A plan with a price was chosen: it is to be paid.' }),
  'efactura.login': ofEnterprise({ says: 'A check of the e-invoicing login has finished.' }),
  'cfe.updated': ofEnterprise({ says: 'The status of a CFE has changed.', isOfOneCfe: true }),
  'cae.low': ofEnterprise({
    says: 'The numbers of a type run low.',
    more: 'They last less than 7 days, are less than a tenth, or are none.',
  }),
  'cae.expiring': ofEnterprise({ says: 'A CAE with numbers left expires in 30, 7 or 1 days.' }),
  'certificate.expiring': ofEnterprise({ says: 'The certificate expires in 30, 7 or 1 days.' }),
  'daily_report.updated': ofEnterprise({ says: 'The status of a daily report has changed.' }),
  'receipt.delivered': ofEnterprise({
    says: 'An e-mail with a receipt was taken by the mail server.',
    isOfOneCfe: true,
  }),
  'receipt.failed': ofEnterprise({
    says: 'An e-mail with a receipt was refused, or given up after the last retry.',
    isOfOneCfe: true,
  }),
  'authority.updated': {
    says: 'The tax authority has stopped answering, or answers again.',
    isSelectable: true,
    receivers: 'Sent to every webhook that selected it, of any account, whatever enterprises it has.',
    isOfOneCfe: false,
  },
  'webhook.test': {
    says: 'A test of the webhook was asked for; nothing has happened.',
    isSelectable: false,
    receivers: 'Sent to the one webhook for which it was asked, whatever events that has selected.',
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

/** What is to be known of an event. */
export const eventRow = (name: EventName): EventRow => EVENTS[name];
