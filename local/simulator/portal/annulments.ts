import { z } from 'zod';
import { annulNumbers } from '../state/receipts.ts';
import { cfeTypeCode, environment, fiscalNumber, read, rut, serie } from './input.ts';
import type { PortalRoute } from './route.ts';

const Report = z.strictObject({
  environment,
  rut,
  cfe_type_code: cfeTypeCode,
  serie,
  number_start: fiscalNumber,
  number_end: fiscalNumber.optional(),
});

/** Reports numbers as annulled, as a daily report would: a receipt that carries one later is refused with E01. */
export const reportAnnulled: PortalRoute = {
  method: 'POST',
  path: '/portal/annulments',
  handle({ body }, { state }) {
    const { environment: name, ...report } = read(Report, body);
    const { rut: issuer, cfe_type_code: cfeType, number_start: start, number_end: end = start } = report;
    annulNumbers(state, { environment: name, rut: issuer, cfeType, serie: report.serie }, start, end);
    return { status: 201, json: { ...report, number_end: end } };
  },
};
