import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { alertRules, dashboardPanels, metricsOf } from '../support/ops.ts';

const CHECKOUT = join(import.meta.dirname, '../..');
/** A heading as a link names it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\d\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

describe('ops/alerts.yml', () => {
  const rules = alertRules();

  test('has rules, each once', () => {
    expect(rules.length).toBeGreaterThan(20);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  test.each(rules.map((rule) => [rule.alert, rule] as const))('%s can be acted upon', (_, rule) => {
    expect(metricsOf(rule.expr).length).toBeGreaterThan(0);
    expect(rule.for ?? '0m').toMatch(/^\d+[mh]$/);
    expect(['critical', 'warning', 'info']).toContain(rule.labels['severity']);
    expect(rule.annotations['summary']).toMatch(/^\S.{10,}/);
    expect(rule.annotations['description']).toMatch(/^[A-Z].{40,}[.]$/);

    const [page = '', anchor] = (rule.annotations['runbook'] ?? '').split('#');
    expect([page, existsSync(join(CHECKOUT, page))]).toEqual([page, true]);
    const headings = readFileSync(join(CHECKOUT, page), 'utf8').match(/^#+ .*$/gm) ?? [];
    const anchors = headings.map((heading) => anchorOf(heading.replace(/^#+ /, '')));
    if (anchor !== undefined) expect(anchors).toContain(anchor);
  });

  test('a summary names only labels that its expression keeps', () => {
    const strangers = rules.flatMap(({ alert, expr, annotations }) => {
      const kept = new Set([...metricsOf(expr).flatMap(({ labels }) => labels), 'instance']);
      const said = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(
        ([, label = '']) => label,
      );
      return said.filter((label) => !kept.has(label)).map((label) => `${alert}: ${label}`);
    });
    expect(strangers).toEqual([]);
  });
});

describe('ops/grafana-dashboard.json', () => {
  const panels = dashboardPanels();

  test.each(panels.map((panel) => [panel.title, panel] as const))(
    '%s shows something, with a word on what',
    (_, panel) => {
      if (panel.type === 'row') return;
      expect(panel.description).toMatch(/\S/);
      expect(panel.targets?.flatMap(({ expr }) => metricsOf(expr)).length).toBeGreaterThan(0);
    },
  );

  test('no panel lies on another or beside the screen', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (__, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

describe('what an expression names', () => {
  test('is every metric with the labels that choose and group it', () => {
    expect(
      metricsOf('sum by (le) (rate(a_bucket{b="c"}[$__rate_interval])) / on () max without (d) (e)'),
    ).toEqual([
      { metric: 'a_bucket', labels: ['b', 'le'] },
      { metric: 'e', labels: ['d'] },
    ]);
  });

  test.each(['sum(', 'rate(a[5m)', 'a{b="c}', 'a +'])(
    'is nothing where it is no PromQL: %s',
    (expression) => {
      expect(() => metricsOf(expression)).toThrow('not PromQL');
    },
  );
});
