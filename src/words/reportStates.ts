/**
 * Explains the statuses and reasons of a daily report (docs/daily-report.md#status,
 * docs/authority/reports.md#answers-to-a-report). The reasons why a report needs support are among the words of CFEs.
 */
import { type ReportWords, reportStatesEn } from './en/reportStates.ts';
import { reportStatesEs } from './es/reportStates.ts';

export const REPORT_WORDS: Readonly<Record<'en' | 'es', ReportWords>> = {
  en: reportStatesEn,
  es: reportStatesEs,
};
