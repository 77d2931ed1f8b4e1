import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** What the API measures of itself. */
export interface ApiMetrics {
  readonly registry: Registry;
  /** Seconds from request to answer, by route template, method and status. Never an account or a RUT as a label. */
  readonly requestDuration: Histogram<'route' | 'method' | 'status'>;
}

/** The metrics of one API process, with those of Node itself; a registry of its own. */
export function createMetrics(): ApiMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requestDuration = new Histogram({
    name: 'cfe_api_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return { registry, requestDuration };
}
