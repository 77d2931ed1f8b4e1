import { z } from 'zod';
import { REGISTRY_FAULTS } from '../soap/registry.ts';
import { putRecord } from '../state/registry.ts';
import { day, environment, read, rut } from './input.ts';
import type { PortalRoute } from './route.ts';

const optionalText = (max: number) => z.string().max(max).nullable().default(null);

const RegistryEntry = z.strictObject({
  environment: environment.optional(),
  rut: rut.optional(),
  legal_name: z.string().trim().min(1).max(150),
  trade_name: optionalText(150),
  entity_type_code: optionalText(6),
  entity_type_description: optionalText(100),
  activity_status: z.enum(['AA', 'AF', 'CC', 'CH', 'NT']).default('AA'),
  start_date: day.nullable().default(null),
  business_activities: z
    .array(
      z.strictObject({
        activity_code: z.string().min(1).max(10),
        activity_name: z.string().min(1).max(150),
        start_date: day.nullable().default(null),
      }),
    )
    .default([]),
  fiscal_addresses: z
    .array(
      z.strictObject({
        branch: z.int().min(0).max(9999),
        locality_name: optionalText(70),
        street_name: optionalText(150),
      }),
    )
    .max(1, 'the registry knows only the principal branch')
    .default([]),
  fault: z
    .int()
    .refine((code) => REGISTRY_FAULTS.includes(code), `must be one of ${REGISTRY_FAULTS.join(', ')}`)
    .nullable()
    .default(null),
});

/** Sets what the registry (eRUT) says about a RUT; with `fault` it answers with that fault instead. */
export const putRegistry: PortalRoute = {
  method: 'PUT',
  path: '/portal/registry/{rut}',
  handle({ path, body }, { state }) {
    const number = read(rut, path['rut'], '/path/rut');
    const { environment: _environment, rut: bodyRut, ...record } = read(RegistryEntry, body);
    // Throws the fault.
    if (bodyRut !== undefined && bodyRut !== number) read(z.literal(number), bodyRut, '/rut');
    putRecord(state, number, record);
    return { status: 200, json: { rut: number, ...record } };
  },
};
