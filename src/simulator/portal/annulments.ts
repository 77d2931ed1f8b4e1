import { z } from 'zod';
import { annulNumbers } from '../state/receipts.ts';
import { cfeTypeCode, environment, fiscalNumber, read, rut, series } from './input.ts';
import type { PortalRoute } from './route.ts';

const Report = z.strictObject({
  environment,
  rut,
  cfe_type_code: cfeTypeCode,
  serie: series,
  number_start: fiscalNumber,
  number_end: fiscalNumber.optional(),
});

/** Reports numbers as annulled, as a daily report would: a receipt that carries one later is refused with E01. */
export const reportAnnulled: PortalRoute = {
  method: 'POST',
  path: '/portal/annulments',
  handle({ body }, { state }) {
    const report = read(Report, body);
    const { rut: issuer, cfe_type_code: cfeType, serie, number_start: start } = report;
    const end = report.number_end ?? start;
    annulNumbers(state, { environment: report.environment, rut: issuer, cfeType, series: serie }, start, end);
    return {
      status: 201,
      json: { rut: issuer, cfe_type_code: cfeType, serie, number_start: start, number_end: end },
    };
  },
};
