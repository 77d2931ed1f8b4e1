import * as z from 'zod';
import { listCaes as find } from '../../db/caes.ts';
import { caeStatus } from '../../domain/cae.ts';
import { caeObject } from '../../domain/enterpriseObject.ts';
import { montevideoDate } from '../../domain/montevideo.ts';
import { Rut } from '../../domain/rut.ts';
import { defineRoute } from '../route.ts';
import { CaeView } from '../views/cae.ts';

/** GET …/caes: the ranges of numbers held, all or those of one status. */
export const listCaes = defineRoute({
  name: 'listCaes',
  method: 'GET',
  path: '/enterprises/{rut}/caes',
  summary: 'List CAEs',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut },
  query: z.strictObject({ status: z.enum(['OK', 'EXPIRED']).optional() }),
  body: null,
  success: { status: 200, description: 'The CAEs, in upload order', schema: z.array(CaeView) },
  errors: [],
  async handle({ enterprise, query }, { orm, clock }) {
    const now = clock();
    const caes = await find(orm.em.fork(), enterprise.rut, 'production');
    return caes
      .filter((cae) => query.status === undefined || caeStatus(cae, montevideoDate(now)) === query.status)
      .map((cae) => caeObject(cae, now));
  },
});
