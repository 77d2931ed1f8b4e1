import { type Counter, collectDefaultMetrics, type Histogram, Registry } from 'prom-client';
import { counter, gauge, histogram } from '../metrics/instruments.ts';
import type { ChangeWatch } from './changes.ts';

export interface ConsoleMetrics {
  readonly registry: Registry;
  readonly requestDuration: Histogram<'page' | 'method' | 'status'>;
  readonly signIns: Counter<'outcome'>;
}

/** Creates the metrics of one console process, including Node's own. */
export function createConsoleMetrics(ports: {
  changes: ChangeWatch;
  ready: () => Promise<boolean>;
}): ConsoleMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  gauge(registry, 'cfe_console_ready', async (own) => own.set((await ports.ready()) ? 1 : 0));
  gauge(registry, 'cfe_console_live_pages', (own) => own.set(ports.changes.count()));
  const signIns = counter(registry, 'cfe_console_sign_ins_total');
  for (const outcome of ['done', 'refused', 'limited']) signIns.inc({ outcome }, 0);
  return {
    registry,
    requestDuration: histogram(registry, 'cfe_console_request_duration_seconds'),
    signIns,
  };
}
