import { z } from 'zod';
import { putIssuer } from '../state/directory.ts';
import { day, environment, read, rut } from './input.ts';
import type { PortalRoute } from './route.ts';

const Entry = z.strictObject({
  environment: environment.optional(),
  rut: rut.optional(),
  name: z.string().trim().min(1).max(150),
  mail: z.string().max(254),
  since: day,
  until: day.nullable().default(null),
});

/** Sets what the list of electronic issuers says of a RUC, as changed now. */
export const putDirectory: PortalRoute = {
  method: 'PUT',
  path: '/portal/directory/{rut}',
  handle({ path, body }, { state, clock }) {
    const number = read(rut, path['rut'], '/path/rut');
    const { environment: _environment, rut: bodyRut, ...entry } = read(Entry, body);
    // Throws the fault.
    if (bodyRut !== undefined && bodyRut !== number) read(z.literal(number), bodyRut, '/rut');
    putIssuer(state, { rut: number, ...entry }, clock().toISOString());
    return { status: 200, json: { rut: number, ...entry } };
  },
};
