import { z } from 'zod';
import { Refusal } from '../../../src/errors.ts';
import { inTransaction } from '../state/database.ts';
import { acceptRefused, findReceipt, isAnnulled } from '../state/receipts.ts';
import { cfeTypeCode, environment, fiscalNumber, read, rut, serie } from './input.ts';
import type { PortalRoute } from './route.ts';

const Body = z.strictObject({ environment, rut, cfe_type_code: cfeTypeCode, serie, numero: fiscalNumber });

/**
 * Accepts a receipt that was refused for its amount (E06), as the company can have it done in the authority's portal.
 * Refuses any other receipt, and one whose number was reported as annulled meanwhile.
 */
export const regularize: PortalRoute = {
  method: 'POST',
  path: '/portal/regularizations',
  handle({ body }, { state, clock }) {
    const order = read(Body, body);
    const key = {
      environment: order.environment,
      rut: order.rut,
      cfeType: order.cfe_type_code,
      serie: order.serie,
      number: order.numero,
    };
    inTransaction(state, () => {
      const receipt = findReceipt(state, key);
      if (!receipt) throw new Refusal('NOT_FOUND', 'the authority has no such receipt');
      const isDecided = receipt.ready_at <= clock().toISOString();
      if (!isDecided || receipt.code !== 'E06' || isAnnulled(state, key)) throw notForRegularization();
      acceptRefused(state, key, receipt.sobre_id);
    });
    return { status: 201, json: { ...order, verdict: 'AE' } };
  },
};

const notForRegularization = (): Refusal =>
  new Refusal('INVALID_INPUT', 'only a receipt refused with E06, and not annulled since, can be accepted', {
    faults: [{ path: '/numero', code: 'not_refused_for_e06', message: 'numero: cannot be accepted' }],
  });
