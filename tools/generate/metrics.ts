import { describeMetrics } from '../../src/metrics/table.ts';

/** docs/metrics.md, made from the table of metrics (src/metrics/table.ts). */
export const metricsPage = (): string => `# Metrics and health

The table is generated from \`src/metrics/table.ts\` by \`npm run generate\`; so are the instruments. [ops/alerts.yml](../ops/alerts.yml) holds the alert rules, [ops/grafana-dashboard.json](../ops/grafana-dashboard.json) one screen for operators (Grafana: *Dashboards, New, Import*). A test checks every name and label in them against what running processes export (\`test/long/metrics.test.ts\`).

## Where

| | API | Worker |
|---|---|---|
| \`/metrics\`, \`/livez\`, \`/readyz\` | port \`CFE_METRICS_PORT\` (9464) | port \`CFE_WORKER_METRICS_PORT\` (9465) |
| \`/livez\`, \`/readyz\` too | port of the API | |

The ports listen on \`CFE_HOST\` and need no key, so keep them on the internal network. Scrape each process separately:

\`\`\`yaml
rule_files: [alerts.yml]
scrape_configs:
  - job_name: cfe
    static_configs:
      - targets: [api:9464]
    dns_sd_configs:
      - { names: [worker], type: A, port: 9465 } # an address for each worker
\`\`\`

## Health

| | 200 | 503 | No answer |
|---|---|---|---|
| \`/livez\` | the process runs; nothing else is checked | never | restart it |
| \`/readyz\` of the API | PostgreSQL answered within a second, at most a second ago. Temporal and the authority may be away: CFEs are still issued | PostgreSQL does not answer: send requests elsewhere; it recovers automatically | not started, or ended |
| \`/readyz\` of the worker | it takes tasks and PostgreSQL answered within a second. Temporal or the authority may go away later | PostgreSQL does not answer, Temporal was never reached, or it is shutting down. Nothing is lost; it recovers automatically | not started, or ended |

Do not restart a process because of a 503 from \`/readyz\`.

## How to read them

- Every worker exports the same numbers from the database (CFEs, outbox, deliveries, certificates, CAEs, endpoints): use \`max by (…)\`, never \`sum\`. Requests, verdicts, calls and attempts are counted per process: use \`sum(rate(…))\` or \`increase\`.
- Database numbers are read at the scrape, at most every 5 s (certificates and CAEs: 60 s), within 3 s. Without the database these series are absent and \`cfe_database_up\` is 0.
- Certificates and CAEs have the RUT as a label: 1,000 series each, first to expire, production only, without suspended enterprises and those expired for more than 30 days.
- \`temporal_…\` are the Temporal SDK's, exported by the worker with its own; \`process_…\` and \`nodejs_…\` are Node's.

## Our own

${describeMetrics()}

## Of the Temporal SDK

The SDK exports many more; alerts and dashboard use these.

| Metric | Type | Unit | Labels | What it means |
|---|---|---|---|---|
| \`temporal_activity_execution_failed_total\` | counter | attempts | \`activity_type\`, \`task_queue\` | Attempts of activities that failed; questions without a verdict yet, and waits for a slot, do not count |
| \`temporal_workflow_task_execution_failed_total\` | counter | tasks | \`workflow_type\`, \`task_queue\` | Workflow code that failed or could not replay a history |
| \`temporal_activity_schedule_to_start_latency_seconds\` | histogram | seconds | \`activity_type\`, \`task_queue\` | Time that activities wait for a worker |
| \`temporal_workflow_task_schedule_to_start_latency_seconds\` | histogram | seconds | \`workflow_type\`, \`task_queue\` | Time that workflow tasks wait for a worker |
| \`temporal_worker_task_slots_available\` | gauge | slots | \`worker_type\`, \`task_queue\` | Tasks that the worker could take at once |
`;
