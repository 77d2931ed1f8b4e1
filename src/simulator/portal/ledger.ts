import { z } from 'zod';
import { Refusal } from '../../errors.ts';
import { listLedger, receiptXml } from '../state/receipts.ts';
import { cfeTypeCode, dayOrMoment, environment, read, rut, series } from './input.ts';
import type { PortalRoute } from './route.ts';

const Query = z.strictObject({ environment, rut: rut.optional(), since: dayOrMoment.optional() });

/** What the authority holds: one row a fiscal number, in the order of arrival. */
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
  serie: series,
  numero: z
    .string()
    .regex(/^\d{1,7}$/)
    .transform(Number),
});
const Environment = z.strictObject({ environment });

/** One receipt's signed XML as it was received, byte for byte. */
export const ledgerXml: PortalRoute = {
  method: 'GET',
  path: '/portal/ledger/{rut}/{cfe_type_code}/{serie}/{numero}',
  handle({ path, query }, { state }) {
    const of = read(Path, path, '/path');
    const { environment: name } = read(Environment, query, '/query');
    const xml = receiptXml(state, {
      environment: name,
      rut: of.rut,
      cfeType: of.cfe_type_code,
      series: of.serie,
      number: of.numero,
    });
    if (!xml) throw new Refusal('NOT_FOUND', 'the authority holds no such receipt');
    return { status: 200, contentType: 'application/xml', text: xml };
  },
};
