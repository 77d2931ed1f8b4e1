/**
 * The table of all metrics under our own names, from which the instruments and docs/metrics.md (`npm run
 * generate`) are made. Names, labels and units never change: alerts and dashboards depend on them.
 */

interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** The processes that export this metric. */
  readonly from: readonly ('api' | 'worker' | 'console')[];
  readonly help: string;
  /** Each label with its values. A RUT is public and may be a label; no other fact of a customer may. */
  readonly labels: Readonly<Record<string, string>>;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

const API = ['api'] as const;
const WORKER = ['worker'] as const;
const CONSOLE = ['console'] as const;
const BOTH = ['api', 'worker'] as const;
const ALL = ['api', 'worker', 'console'] as const;

const environment = '`production` or `sandbox`';
const AUTHORITY_CALL = {
  environment,
  service:
    '`reception`, `consultation`, `registry`, `credentials` for the check of e-invoicing logins, or `rates` for the central bank',
  operation:
    '`sendSobre`, `askVerdict`, `findSobre`, `findCfe`, `listIssuers`, `sendReport`, `findReports`, `readReportAnswer`, `lookUpRut`, `checkLogin`, `closingRates`, `lastClosing`',
};
const ENDPOINT = '`production/reception`, `sandbox/consultation`, `credentials`, `rates`, …';
const BY_ENTERPRISE = { rut: 'the enterprise’s RUT', type: 'type of CFE, as in the API' };

export const METRICS = {
  cfe_api_ready: {
    type: 'gauge',
    from: API,
    help: 'Whether the API is ready, as /readyz says',
    labels: {},
  },
  cfe_api_request_duration_seconds: {
    type: 'histogram',
    from: API,
    help: 'Time from request to answer',
    labels: {
      route: 'the route’s template, `none` for an unknown path',
      method: 'HTTP method, `any` if there is no route',
      status: 'HTTP status',
    },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  cfe_console_ready: {
    type: 'gauge',
    from: CONSOLE,
    help: 'Whether the console is ready, as /readyz says',
    labels: {},
  },
  cfe_console_request_duration_seconds: {
    type: 'histogram',
    from: CONSOLE,
    help: 'Time from request to answer of the console',
    labels: {
      page: 'the page’s name, a form’s path, `none` for an unknown path',
      method: 'HTTP method, `any` if there is no page',
      status: 'HTTP status',
    },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  cfe_console_sign_ins_total: {
    type: 'counter',
    from: CONSOLE,
    help: 'Attempts to sign in to the console',
    labels: { outcome: '`done`, `refused` for a wrong password or code, `limited` for one too many' },
  },
  cfe_console_live_pages: {
    type: 'gauge',
    from: CONSOLE,
    help: 'Open pages that wait for notice of changes',
    labels: {},
  },
  cfe_ui_value_stand_in: {
    type: 'gauge',
    from: API,
    help: '1 for a year whose UI value is an estimate, another year’s, or missing',
    labels: { year: 'this year, from 1 December on also the next', why: '`estimate`, `other_year`, `none`' },
  },
  cfe_database_up: {
    type: 'gauge',
    from: ALL,
    help: 'Whether the database answers within a second',
    labels: {},
  },
  cfe_database_pool_connections: {
    type: 'gauge',
    from: ALL,
    help: 'Connections that this process holds to the database (at most CFE_DATABASE_POOL; those that count requests are apart)',
    labels: { state: '`busy` or `idle`' },
  },
  cfe_database_pool_waiting: {
    type: 'gauge',
    from: ALL,
    help: 'Requests that wait for a connection to the database',
    labels: {},
  },
  cfe_authority_request_duration_seconds: {
    type: 'histogram',
    from: BOTH,
    help: 'Time that a call to the authority took, held-back ones apart',
    labels: AUTHORITY_CALL,
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60],
  },
  cfe_authority_answers_total: {
    type: 'counter',
    from: BOTH,
    help: 'Calls to the authority',
    labels: {
      ...AUTHORITY_CALL,
      answer: '`document`, or the outcome of docs/outcomes.md',
      result:
        '`repeat` and `stuck`: unclear; `notYet`: asked again as usual; every other answers the question',
    },
  },
  cfe_worker_ready: {
    type: 'gauge',
    from: WORKER,
    help: 'Whether the worker is ready, as /readyz says',
    labels: {},
  },
  cfe_open_cfes: {
    type: 'gauge',
    from: WORKER,
    help: 'CFEs without a verdict',
    labels: { environment, status: '`PENDING` or `RECEIVED`' },
  },
  cfe_oldest_open_cfe_seconds: {
    type: 'gauge',
    from: WORKER,
    help: 'Age of the oldest CFE without a verdict; 0 without one',
    labels: { environment, status: '`PENDING` or `RECEIVED`' },
  },
  cfe_needs_support: {
    type: 'gauge',
    from: WORKER,
    help: 'CFEs that wait for support; no series without any',
    labels: { environment, stuck_reason: 'as in the search attribute StuckReason' },
  },
  cfe_reports: {
    type: 'gauge',
    from: WORKER,
    help: 'Production’s daily reports of the last 70 days that are not CONSISTENT; no series without any',
    labels: { status: '`OPEN`, `SENT`, `RECEIVED`, `DIFFERS`, `SUPERSEDED`, `REFUSED`' },
  },
  cfe_reports_due_seconds: {
    type: 'gauge',
    from: WORKER,
    help: 'Time until the first report is due that the authority does not have; negative once late; no series if it has all',
    labels: {},
  },
  cfe_reports_need_support: {
    type: 'gauge',
    from: WORKER,
    help: 'Daily reports that wait for support; no series without any',
    labels: { environment, stuck_reason: 'as in the search attribute StuckReason' },
  },
  cfe_run_stands_seconds: {
    type: 'gauge',
    from: WORKER,
    help: 'Time since a bulk run last progressed, the longest; 0 without one',
    labels: {},
  },
  cfe_authority_breaker_open: {
    type: 'gauge',
    from: WORKER,
    help: 'Whether an endpoint’s breaker is open, so that only probes go there',
    labels: { endpoint: ENDPOINT },
  },
  cfe_authority_waiting_cfes: {
    type: 'gauge',
    from: WORKER,
    help: 'CFEs that wait for a slot at an endpoint',
    labels: { endpoint: ENDPOINT },
  },
  cfe_verdicts_total: {
    type: 'counter',
    from: WORKER,
    help: 'CFEs that got their verdict in this process',
    labels: { environment, type: 'type of CFE, as in the API', status: '`ACCEPTED`, `REJECTED`, `OBSERVED`' },
  },
  cfe_verdict_wait_seconds: {
    type: 'histogram',
    from: WORKER,
    help: 'Time from taking a CFE to its verdict',
    labels: { environment },
    buckets: [1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600, 21_600, 86_400],
  },
  cfe_outbox_messages: {
    type: 'gauge',
    from: WORKER,
    help: 'Starts and signals of workflows that wait for Temporal',
    labels: {},
  },
  cfe_outbox_oldest_seconds: {
    type: 'gauge',
    from: WORKER,
    help: 'Age of the oldest message in the outbox; 0 if it is empty',
    labels: {},
  },
  cfe_own_faults_total: {
    type: 'counter',
    from: WORKER,
    help: 'Attempts of activities that failed by a bug of ours',
    labels: { activity_type: 'the activity’s name' },
  },
  cfe_webhook_attempts_total: {
    type: 'counter',
    from: WORKER,
    help: 'Attempts to reach customers’ servers',
    labels: {
      outcome:
        '`2xx` (accepted), `3xx`, `4xx`, `5xx`, or why there was no answer: `timeout`, `connection_refused`, `dns`, …',
    },
  },
  cfe_webhook_deliveries_total: {
    type: 'counter',
    from: WORKER,
    help: 'Deliveries that ended in this process',
    labels: { status: '`DELIVERED` or `FAILED`' },
  },
  cfe_purged_rows_total: {
    type: 'counter',
    from: WORKER,
    help: 'Rows deleted past their retention; of certificates, private keys',
    labels: { table: 'its name' },
  },
  cfe_webhook_waiting_deliveries: {
    type: 'gauge',
    from: WORKER,
    help: 'Deliveries in progress or waiting for a retry (PENDING)',
    labels: {},
  },
  cfe_webhook_oldest_waiting_seconds: {
    type: 'gauge',
    from: WORKER,
    help: 'Age of the oldest waiting delivery; 0 without one',
    labels: {},
  },
  cfe_mail_attempts_total: {
    type: 'counter',
    from: WORKER,
    help: 'Attempts to hand e-mails to the mail server',
    labels: {
      kind: '`RECEIPT` or `EXCHANGE`',
      outcome:
        '`taken`, `refused`, or why there was no answer to the e-mail: `login`, `timeout`, `connection_refused`, …',
    },
  },
  cfe_mails_total: {
    type: 'counter',
    from: WORKER,
    help: 'E-mails that ended in this process',
    labels: { kind: '`RECEIPT` or `EXCHANGE`', status: '`SENT` or `FAILED`' },
  },
  cfe_mails_waiting: {
    type: 'gauge',
    from: WORKER,
    help: 'E-mails in progress or waiting for a retry (PENDING)',
    labels: {},
  },
  cfe_mails_oldest_waiting_seconds: {
    type: 'gauge',
    from: WORKER,
    help: 'Age of the oldest waiting e-mail; 0 without one',
    labels: {},
  },
  cfe_exports_under_way: {
    type: 'gauge',
    from: WORKER,
    help: 'Months of receipts that are being put into files',
    labels: {},
  },
  cfe_exports_still_seconds: {
    type: 'gauge',
    from: WORKER,
    help: 'Time since such a file last progressed, the longest; 0 without one',
    labels: {},
  },
  cfe_cae_numbers_left: {
    type: 'gauge',
    from: WORKER,
    help: 'Numbers left in today’s valid production CAEs',
    labels: BY_ENTERPRISE,
  },
  cfe_cae_days_left: {
    type: 'gauge',
    from: WORKER,
    help: 'Days until the last production CAE expires; negative once it has',
    labels: BY_ENTERPRISE,
  },
  cfe_unaccounted_caes: {
    type: 'gauge',
    from: WORKER,
    help: 'CAEs with a number neither issued nor annulled nor waiting (`numbers reconcile`); read hourly',
    labels: { environment },
  },
  cfe_certificate_days_left: {
    type: 'gauge',
    from: WORKER,
    help: 'Days until the production certificate expires; negative once it has',
    labels: { rut: BY_ENTERPRISE.rut },
  },
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof METRICS;
export type LabelOf<N extends MetricName> = Extract<keyof (typeof METRICS)[N]['labels'], string>;
/** The metrics of one type. */
export type NameOf<T extends MetricRow['type']> = {
  [N in MetricName]: (typeof METRICS)[N]['type'] extends T ? N : never;
}[MetricName];

/** Returns the row of a metric. */
export const rowOf = (name: MetricName): MetricRow => METRICS[name];

/** Returns the table as Markdown, for docs/metrics.md. A label that means the same in several rows is explained in the first. */
export function describeMetrics(): string {
  const explained = new Set<string>();
  const line = ([name, { type, help, labels }]: [string, MetricRow]): string => {
    const described = Object.entries(labels).map(([label, holds]) => {
      const whole = `\`${label}\`: ${holds}`;
      if (explained.has(whole)) return `\`${label}\``;
      explained.add(whole);
      return whole;
    });
    const kind = type === 'histogram' ? ' (histogram)' : '';
    return `- \`${name}\`${kind}: ${help}${described.length > 0 ? `. By ${described.join('; ')}` : ''}`;
  };
  return [...Map.groupBy(Object.entries<MetricRow>(METRICS), ([, { from }]) => from.join(', '))]
    .map(([from, rows]) => `### ${from}\n\n${rows.map(line).join('\n')}`)
    .join('\n\n');
}
