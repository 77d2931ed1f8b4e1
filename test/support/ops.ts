/** The files for whoever watches the service (ops/), and what their expressions name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

const OPS = join(import.meta.dirname, '../../ops');

export interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** Every rule of ops/alerts.yml. Throws where it is no YAML, or names anything twice. */
export function alertRules(): AlertRule[] {
  const { groups } = parse(readFileSync(join(OPS, 'alerts.yml'), 'utf8'), {
    strict: true,
    uniqueKeys: true,
  }) as {
    groups: { name: string; rules: AlertRule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}

/** Every panel of ops/grafana-dashboard.json. */
export function dashboardPanels(): Panel[] {
  const { panels } = JSON.parse(readFileSync(join(OPS, 'grafana-dashboard.json'), 'utf8')) as {
    panels: Panel[];
  };
  return panels;
}

/** A metric that an expression names, with the labels that it must have for the expression to mean anything. */
export interface Named {
  readonly metric: string;
  readonly labels: readonly string[];
}

/**
 * The metrics of a PromQL expression: each with the labels it is chosen by, and those by which what holds it is
 * grouped. Grafana's own interval may stand for a duration. Throws where the expression does not parse.
 */
export function metricsOf(expression: string): Named[] {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const tree = parser.parse(text);
  const named: { metric: string; from: number; labels: Set<string> }[] = [];
  const groupings: { from: number; to: number; labels: string[] }[] = [];
  tree.iterate({
    enter({ type, from, to, node }) {
      if (type.isError) throw new Error(`not PromQL at "${text.slice(from, from + 20)}": ${text}`);
      const said = text.slice(from, to);
      if (type.name === 'VectorSelector') {
        const name = node.getChild('Identifier');
        if (!name) throw new Error(`a selector without a metric: ${said}`);
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        const labels = matchers.map((matcher) => {
          const label = matcher.getChild('LabelName');
          return label ? text.slice(label.from, label.to) : '';
        });
        named.push({ metric: text.slice(name.from, name.to), from, labels: new Set(labels) });
      }
      if (type.name === 'AggregateExpr') {
        const names =
          node.getChild('AggregateModifier')?.getChild('GroupingLabels')?.getChildren('LabelName') ?? [];
        groupings.push({ from, to, labels: names.map((label) => text.slice(label.from, label.to)) });
      }
    },
  });
  for (const one of named)
    for (const { from, to, labels } of groupings)
      if (from <= one.from && one.from < to) for (const label of labels) one.labels.add(label);
  return named.map(({ metric, labels }) => ({ metric, labels: [...labels] }));
}
