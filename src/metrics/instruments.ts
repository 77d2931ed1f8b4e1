import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type LabelOf, type MetricName, type NameOf, rowOf } from './table.ts';

/** Returns prom-client's settings of a metric in the table: its types reject any other name or label. */
function settings<N extends MetricName>(registry: Registry, name: N) {
  const { help, labels } = rowOf(name);
  return { name, help, labelNames: Object.keys(labels) as LabelOf<N>[], registers: [registry] };
}

export function counter<N extends NameOf<'counter'>>(registry: Registry, name: N): Counter<LabelOf<N>> {
  return new Counter(settings(registry, name));
}

export function histogram<N extends NameOf<'histogram'>>(registry: Registry, name: N): Histogram<LabelOf<N>> {
  return new Histogram({ ...settings(registry, name), buckets: [...(rowOf(name).buckets ?? [])] });
}

/** Creates a gauge that `read` sets at every scrape; only values that `read` sets are exported. */
export function gauge<N extends NameOf<'gauge'>>(
  registry: Registry,
  name: N,
  read: (gauge: Gauge<LabelOf<N>>) => void | Promise<void>,
): Gauge<LabelOf<N>> {
  const own = settings(registry, name);
  const labels = own.labelNames.length;
  return new Gauge({
    ...own,
    async collect() {
      this.reset();
      // The reset of a gauge without labels would export a 0 that was never measured.
      if (labels === 0) this.remove();
      await read(this);
    },
  });
}
