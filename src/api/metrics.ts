import { collectDefaultMetrics, type Histogram, Registry } from 'prom-client';
import { histogram } from '../metrics/instruments.ts';

/** Metrics of the API itself. */
export interface ApiMetrics {
  readonly registry: Registry;
  /** Seconds from request to answer, by route template, method and status. Never label by account or RUT. */
  readonly requestDuration: Histogram<'route' | 'method' | 'status'>;
}

/** Creates the metrics of one API process and of Node.js, in their own registry. */
export function createMetrics(): ApiMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return { registry, requestDuration: histogram(registry, 'cfe_api_request_duration_seconds') };
}
