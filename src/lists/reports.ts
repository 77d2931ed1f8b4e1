import { listOrder } from '../db/page.ts';
import { listRatesAfter } from '../db/receipts/rates.ts';
import {
  type ConsoleReportFilter,
  listVisibleReports,
  type ReportRow,
  reportCursor,
} from '../db/reports/consoleReports.ts';
import type { KnownRate } from '../domain/receipts/exchangeRate.ts';
import { ReportStatusName } from '../domain/requests/enums.ts';
import { dateSchema } from '../domain/values/dates.ts';
import { listOf, TypedRut, type VisibleTo } from './list.ts';

/** Days with a daily report: first those that need support, each part with the latest day first. */
export const REPORTS = listOf<ReportRow, ConsoleReportFilter & VisibleTo>()({
  name: 'reports',
  filters: {
    rut: { schema: TypedRut, only: 'reports of this enterprise' },
    status: { schema: ReportStatusName, only: 'reports with this status' },
    from: { schema: dateSchema(), only: 'reports of this day or later', placeholder: 'date' },
    to: { schema: dateSchema(), only: 'reports of this day or earlier', placeholder: 'date' },
  } as const,
  columns: {
    date: 'date',
    rut: 'rut',
    status: 'status',
    stuck_reason: 'stuckReason',
    sequence: 'sequence',
    is_complete: 'isComplete',
    due_at: 'dueAt',
    environment: 'environment',
  },
  key: { parts: ['number', 'date', 'text', 'text'], of: reportCursor },
  read: (em, { accounts, ...filter }, page) => listVisibleReports(em, accounts, filter, page),
});

/** Exchange rates of daily reports, the latest day first. */
export const RATES = listOf<KnownRate, { readonly date?: string | undefined }>()({
  name: 'rates',
  filters: { date: { schema: dateSchema(), only: 'rates of this day' } } as const,
  columns: {
    date: 'date',
    currency: 'currency',
    rate: 'rate',
    source: 'source',
  },
  key: listOrder({ date: 'date', currency: 'text' }),
  read: (em, { date }, page) => listRatesAfter(em, date, page),
});
