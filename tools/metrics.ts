import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMetrics } from '../src/metrics/table.ts';

/** docs/metrics.md, made from the table of metrics (src/metrics/table.ts): `--write` it or `--check` it. */
const FILE = join(import.meta.dirname, '../docs/metrics.md');
const page = `# Metrics and health

The table is generated from \`src/metrics/table.ts\` by \`npm run metrics\`; the instruments are made from the same table. [ops/alerts.yml](../ops/alerts.yml) holds the alert rules, [ops/grafana-dashboard.json](../ops/grafana-dashboard.json) one screen for operators (Grafana: *Dashboards, New, Import*); a test holds every name and label in them against what running processes export (\`test/e2e/metrics.test.ts\`).

## Where

| | API | Worker |
|---|---|---|
| \`/metrics\`, \`/livez\`, \`/readyz\` | port \`CFE_METRICS_PORT\` (9464) | port \`CFE_WORKER_METRICS_PORT\` (9465) |
| \`/livez\`, \`/readyz\` too | port of the API | |

The ports listen on \`CFE_HOST\` and ask for no key: keep them inside. Every process is scraped by itself:

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
| \`/livez\` | the process turns; nothing else is asked | never | restart it |
| \`/readyz\` of the API | PostgreSQL answers within a second. Temporal and the authority may be away: CFEs are taken all the same, and go on when these are back | PostgreSQL does not answer: send requests elsewhere; it comes back by itself | not started, or ended |
| \`/readyz\` of the worker | it takes tasks and PostgreSQL answers within a second. Temporal or the authority may go away afterwards: it waits for them | PostgreSQL does not answer, or Temporal has not been reached since the start, or it is ending. Nothing is lost; it comes back by itself | not started, or ended |

Do not restart a process for a 503 of \`/readyz\`.

## How to read them

- Numbers that come from the database (CFEs, outbox, deliveries, papers, endpoints) are exported by every worker, all the same: take \`max by (…)\`, never \`sum\`. What happens in a process (requests, verdicts, calls, attempts) is counted by that process, from 0 at its start: take \`sum(rate(…))\` or \`increase\`.
- They are read at the scrape, at most every 5 s (papers: every 60 s) however many scrape, within 3 s, and from indexes that hold only what is open: a million settled CFEs cost nothing. While the database is away these series are absent and \`cfe_database_up\` is 0; the rest is still exported.
- Papers have a RUT as a label, which is public. At most 1,000 series of each, those nearest to their end; of enterprises that are not suspended, production only; none for papers that ended more than 30 days ago.
- Series \`temporal_…\` are those of the Temporal SDK, exported by the worker with its own; those of \`process_…\` and \`nodejs_…\` are Node's.

## Our own

${describeMetrics()}

## Of the Temporal SDK

The SDK exports many more; these are used by alerts and dashboard.

| Metric | Type | Unit | Labels | What it means |
|---|---|---|---|---|
| \`temporal_activity_execution_failed_total\` | counter | attempts | \`activity_type\`, \`task_queue\` | Attempts of activities that failed; questions without a verdict yet, and waits for a turn, are not among them |
| \`temporal_workflow_task_execution_failed_total\` | counter | tasks | \`workflow_type\`, \`task_queue\` | Workflow code that failed, or met a history that it cannot replay |
| \`temporal_activity_schedule_to_start_latency_seconds\` | histogram | seconds | \`activity_type\`, \`task_queue\` | Time that activities wait for a worker |
| \`temporal_workflow_task_schedule_to_start_latency_seconds\` | histogram | seconds | \`workflow_type\`, \`task_queue\` | Time that workflow tasks wait for a worker |
| \`temporal_worker_task_slots_available\` | gauge | slots | \`worker_type\`, \`task_queue\` | Tasks that the worker could take at once |
`;

const [mode] = process.argv.slice(2);
if (mode === '--write') writeFileSync(FILE, page);
else if (readFileSync(FILE, 'utf8') !== page) {
  console.error('docs/metrics.md is not in step with src/metrics/table.ts: run npm run metrics');
  process.exit(1);
}
