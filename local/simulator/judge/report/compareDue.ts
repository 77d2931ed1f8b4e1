import type { EnvironmentName } from '../../environments.ts';
import { inTransaction, type State } from '../../state/database.ts';
import { keepComparison, type Report, type ReportReason, uncompared } from '../../state/reports.ts';
import { readTree, withoutDeclaration } from '../../xml/read.ts';
import { differences } from './compare.ts';
import { readReport } from './reading.ts';

/**
 * Compares with the ledger what is due by now: DR where the receipts say the same, ER with what differs. Called before
 * reports are told of, so that whoever asks sees them as they are at that moment; what it has found stays.
 */
export function compareDue(
  state: State,
  filter: { readonly environment: EnvironmentName; readonly rut: string | null },
  now: Date,
): void {
  const due = uncompared(state, filter, now);
  if (due.length === 0) return;
  inTransaction(state, () => {
    for (const report of due) {
      const reasons = reasonsFor(state, report, now);
      keepComparison(state, report.id, reasons.length === 0 ? 'DR' : 'ER', reasons);
    }
  });
}

function reasonsFor(state: State, report: Report, now: Date): ReportReason[] {
  const parsed = readReport(readTree(withoutDeclaration(report.xml)));
  const found = differences(state, report, parsed, now);
  if (report.is_to_differ === 1) found.unshift('por orden del portal');
  return found.map((detail) => ({ code: null, detail }));
}
