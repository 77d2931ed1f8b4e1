import { describeMetrics } from '../../src/metrics/table.ts';

/** docs/metrics.md, made from the table of metrics (src/metrics/table.ts). */
export const metricsPage = (): string => `# Metrics and health

Alerts: [ops/alerts.yml](../ops/alerts.yml). Dashboard: [ops/grafana-dashboard.json](../ops/grafana-dashboard.json) (Grafana: *Dashboards, New, Import*). \`test/long/metrics.test.ts\` checks both against running processes. This page is generated (\`npm run generate\`).

## Where

| | API | Worker |
|---|---|---|
| \`/metrics\`, \`/livez\`, \`/readyz\` | port \`CFE_METRICS_PORT\` (9464) | port \`CFE_WORKER_METRICS_PORT\` (9465) |
| \`/livez\`, \`/readyz\` too | port of the API | |

The ports listen on \`CFE_HOST\` without a key: internal network only. Scrape each process:

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
| \`/livez\` | the process runs | never | restart it |
| \`/readyz\` of the API | PostgreSQL answered within a second, at most a second ago; Temporal and authority do not count | PostgreSQL does not answer: send requests elsewhere | not started, or ended |
| \`/readyz\` of the worker | it takes tasks, PostgreSQL answered within a second; Temporal and authority may go away later | PostgreSQL does not answer, Temporal was never reached, a search attribute cannot be added, or shutting down | not started, or ended |

Never restart a process for a 503 of \`/readyz\`: it recovers automatically, and nothing is lost.

## How to read them

- Numbers from the database (CFEs, outbox, deliveries, certificates, CAEs, endpoints) are the same in every worker: \`max by (…)\`, never \`sum\`. Requests, verdicts, calls, attempts are per process: \`sum(rate(…))\`, \`increase\`.
- They are read at the scrape, at most every 5 s (certificates, CAEs: 60 s), within 3 s; absent without the database (\`cfe_database_up\` 0).
- Certificates and CAEs by RUT: 1,000 series each, first to expire; production, not suspended, not expired for more than 30 days.
- \`temporal_…\`: the Temporal SDK's, exported by the worker; \`process_…\`, \`nodejs_…\`: Node's.

## Our own

${describeMetrics()}

## Of the Temporal SDK

Those that alerts and dashboard use:

| Metric | Type | Labels | What it means |
|---|---|---|---|
| \`temporal_activity_execution_failed_total\` | counter | \`activity_type\`, \`task_queue\` | Attempts of activities that failed; questions without a verdict yet, and waits for a slot, do not count |
| \`temporal_workflow_task_execution_failed_total\` | counter | \`workflow_type\`, \`task_queue\` | Workflow code that failed or could not replay a history |
| \`temporal_activity_schedule_to_start_latency_seconds\` | histogram | \`activity_type\`, \`task_queue\` | Time that activities wait for a worker |
| \`temporal_workflow_task_schedule_to_start_latency_seconds\` | histogram | \`workflow_type\`, \`task_queue\` | Time that workflow tasks wait for a worker |
| \`temporal_worker_task_slots_available\` | gauge | \`worker_type\`, \`task_queue\` | Tasks that the worker could take at once |
`;
