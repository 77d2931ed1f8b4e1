import { uploadCae as upload } from '../../commands/uploadCae.ts';
import { UploadCae } from '../../domain/enterprise.ts';
import { caeObject } from '../../domain/enterpriseObject.ts';
import { Rut } from '../../domain/rut.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { CaeView } from '../views/cae.ts';

/** POST …/caes: a range of numbers, as the authority signed it. */
export const uploadCae = defineRoute({
  name: 'uploadCae',
  method: 'POST',
  path: '/enterprises/{rut}/caes',
  summary: 'Upload CAE',
  about:
    'Adds a range of numbers as the authority signed it. Numbers are then taken from it automatically: earliest expiry first.',
  auth: 'token',
  sandbox: false,
  role: 'MEMBER',
  params: { rut: Rut },
  query: null,
  body: { schema: UploadCae, limitBytes: BODY_LIMITS.file },
  success: { status: 201, description: 'The CAE', schema: CaeView },
  errors: [],
  async handle({ params, body }, deps) {
    const cae = await upload(deps, {
      rut: params.rut,
      file: Buffer.from(body.cae_b64, 'base64'),
      startNumber: body.cae_start_number,
    });
    return caeObject(cae, deps.clock());
  },
});
