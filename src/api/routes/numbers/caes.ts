import * as z from 'zod';
import { uploadCae as upload } from '../../../commands/numbers/uploadCae.ts';
import { listCaes } from '../../../db/enterprises/warnings.ts';
import { UploadCae } from '../../../domain/enterprises/enterprise.ts';
import { caeObject } from '../../../domain/enterprises/enterpriseObject.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { nameFilters } from '../../../lists/list.ts';
import { CAES } from '../../../lists/numbers.ts';
import { CaeView, ListedCaeView } from '../../../views/numbers/cae.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

/** GET …/caes: lists the ranges of numbers, optionally of one status. */
export const listCaesRoute = defineRoute({
  name: 'listCaes',
  method: 'GET',
  path: '/enterprises/{rut}/caes',
  summary: 'List CAEs',
  about: 'The ranges of numbers, in upload order, each with the numbers left.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  query: z.strictObject(nameFilters(CAES, { status: 'status' }).schemas),
  success: {
    status: 200,
    description: 'The CAEs, in upload order',
    schema: z.array(ListedCaeView).meta({ description: 'The CAEs.' }),
  },
  async handle({ enterprise, query }, { orm, clock }) {
    const { rut } = enterprise;
    const caes = await listCaes(orm.em.fork(), { rut, environment: 'production', now: clock() });
    return caes.filter(({ status }) => query.status === undefined || status === query.status);
  },
});

/** POST …/caes: adds a range of numbers signed by the authority. */
export const uploadCaeRoute = defineRoute({
  name: 'uploadCae',
  method: 'POST',
  path: '/enterprises/{rut}/caes',
  summary: 'Upload CAE',
  about:
    'Adds a range of numbers signed by the authority. Numbers are then taken from it automatically: earliest expiry first. With a cae_start_number above the first of the range the authority is asked later whether it knows the number before, and not this one; see `warnings` of the list.',
  auth: 'token',
  role: 'MEMBER',
  params: { rut: Rut },
  body: { schema: UploadCae, limitBytes: BODY_LIMITS.file },
  success: { status: 201, description: 'The CAE', schema: CaeView },
  async handle({ params, body }, deps) {
    const cae = await upload(deps, {
      rut: params.rut,
      file: Buffer.from(body.cae_b64, 'base64'),
      startNumber: body.cae_start_number,
    });
    return caeObject(cae, deps.clock());
  },
});
