import { z } from 'zod';
import { Refusal } from '../../../src/errors.ts';
import { listLedger, receiptXml } from '../state/receipts.ts';
import { cfeTypeCode, dayOrMoment, environment, read, rut, serie } from './input.ts';
import type { PortalRoute } from './route.ts';

const Query = z.strictObject({ environment, rut: rut.optional(), since: dayOrMoment.optional() });

/** What the authority has: one row per fiscal number, in order of arrival. */
export const ledger: PortalRoute = {
  method: 'GET',
  path: '/portal/ledger',
  handle({ query }, { state, clock }) {
    const filter = read(Query, query, '/query');
    const items = listLedger(state, {
      environment: filter.environment,
      rut: filter.rut ?? null,
      since: (filter.since ?? new Date(0)).toISOString(),
      now: clock().toISOString(),
    });
    return { status: 200, json: { items } };
  },
};

const Path = z.strictObject({
  rut,
  cfe_type_code: cfeTypeCode,
  serie,
  numero: z
    .string()
    .regex(/^\d{1,7}$/)
    .transform(Number),
});
const Environment = z.strictObject({ environment });

/** One receipt's signed XML, byte for byte as received. */
export const ledgerXml: PortalRoute = {
  method: 'GET',
  path: '/portal/ledger/{rut}/{cfe_type_code}/{serie}/{numero}',
  handle({ path, query }, { state }) {
    const number = read(Path, path, '/path');
    const { environment: name } = read(Environment, query, '/query');
    const xml = receiptXml(state, {
      environment: name,
      rut: number.rut,
      cfeType: number.cfe_type_code,
      serie: number.serie,
      number: number.numero,
    });
    if (!xml) throw new Refusal('NOT_FOUND', 'the authority has no such receipt');
    return { status: 200, contentType: 'application/xml', text: xml };
  },
};
