/** The list of daily reports. */
import { ReportStatusName } from '../domain/requests/enums.ts';
import { dateSchema } from '../domain/values/dates.ts';
import { type ListFilters, nameFilters, SoughtRut } from './list.ts';

export const REPORT_FILTERS = {
  rut: { schema: SoughtRut, only: 'reports of this enterprise' },
  status: { schema: ReportStatusName, only: 'reports with this status' },
  from: { schema: dateSchema(), only: 'reports of this day or later', placeholder: 'date' },
  to: { schema: dateSchema(), only: 'reports of this day or earlier', placeholder: 'date' },
} as const satisfies ListFilters;

/** All of them, under their own names. */
export const REPORTS = nameFilters(REPORT_FILTERS, { rut: 'rut', status: 'status', from: 'from', to: 'to' });
