/** What `npm audit --json` says, judged. */
import * as z from 'zod';

const SEVERE: readonly string[] = ['high', 'critical'];

const Advisory = z.object({ title: z.string(), url: z.string(), severity: z.string() });
const Report = z.object({
  auditReportVersion: z.number(),
  /** By package: advisories on it, or the names of packages that it has its trouble from. */
  vulnerabilities: z.record(z.string(), z.object({ via: z.array(z.union([z.string(), Advisory])) })),
});

/** Whether the database could be asked, what is to be said, and whether something severe stands without a reason. */
interface Judgement {
  readonly checked: boolean;
  readonly lines: readonly string[];
  readonly failed: boolean;
}

/** Judges a report; `exceptions` are advisories by their id (GHSA-…), each with the reason why we live with it. */
export function judgeAudit(printed: string, exceptions: Readonly<Record<string, string>>): Judgement {
  const report = reportIn(printed);
  if (!report) {
    return { checked: false, failed: false, lines: ['NOT CHECKED: no database of them could be asked here'] };
  }
  const found = new Map<string, string>();
  for (const [name, { via }] of Object.entries(report.vulnerabilities)) {
    for (const one of via) {
      if (typeof one === 'string' || !SEVERE.includes(one.severity)) continue;
      found.set(one.url.split('/').at(-1) ?? one.url, `${one.severity} in ${name}: ${one.title}`);
    }
  }
  const open = [...found].filter(([id]) => !exceptions[id]);
  const needless = Object.keys(exceptions).filter((id) => !found.has(id));
  return {
    checked: true,
    failed: open.length > 0 || needless.length > 0,
    lines: [
      ...[...found].map(([id, words]) => `${words} (${id})${exceptions[id] ? `: ${exceptions[id]}` : ''}`),
      ...needless.map((id) => `${id} is an exception for nothing: take it out`),
      `${open.length} high or critical without a reason`,
    ],
  };
}

function reportIn(printed: string): z.output<typeof Report> | undefined {
  try {
    return Report.parse(JSON.parse(printed));
  } catch {
    return undefined;
  }
}
