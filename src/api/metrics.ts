import { collectDefaultMetrics, type Histogram, Registry } from 'prom-client';
import { histogram } from '../metrics/instruments.ts';

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
  return { registry, requestDuration: histogram(registry, 'cfe_api_request_duration_seconds') };
}
