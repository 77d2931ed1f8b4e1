import { openCertificate, storeCertificate } from '../../../commands/enterprises/uploadCertificate.ts';
import { findCurrentCertificate } from '../../../db/enterprises/certificates.ts';
import { UploadCertificate } from '../../../domain/enterprises/enterprise.ts';
import { certificateObject } from '../../../domain/enterprises/enterpriseObject.ts';
import { Rut } from '../../../domain/values/rut.ts';
import { Refusal } from '../../../errors.ts';
import { CertificateView } from '../../../views/enterprises/certificate.ts';
import { BODY_LIMITS, defineRoute } from '../../route.ts';

/** GET …/certificate: reads the signing certificate. */
export const getCertificateRoute = defineRoute({
  name: 'getCertificate',
  method: 'GET',
  path: '/enterprises/{rut}/certificate',
  summary: 'Read certificate',
  about: 'The signing certificate; 404 before the first upload.',
  auth: 'token',
  role: 'VIEWER',
  params: { rut: Rut },
  success: { status: 200, description: 'The certificate', schema: CertificateView },
  errors: ['NOT_FOUND'],
  async handle({ enterprise }, { orm, clock }) {
    const certificate = await findCurrentCertificate(orm.em.fork(), enterprise.rut, 'production');
    if (!certificate)
      throw new Refusal('NOT_FOUND', `The enterprise ${enterprise.rut} has no certificate yet.`);
    return certificateObject(certificate, clock());
  },
});

/** POST …/certificate: replaces the signing certificate. */
export const uploadCertificateRoute = defineRoute({
  name: 'uploadCertificate',
  method: 'POST',
  path: '/enterprises/{rut}/certificate',
  summary: 'Upload certificate',
  about:
    'Replaces the signing certificate. It must be the company’s own, valid now, with its key, from a certification authority that the service trusts. The file and its password are not stored.',
  auth: 'token',
  role: 'OWNER',
  params: { rut: Rut },
  body: { schema: UploadCertificate, limitBytes: BODY_LIMITS.file },
  success: { status: 201, description: 'The certificate', schema: CertificateView },
  prepare: ({ body, caller }, deps) =>
    openCertificate(deps, {
      owner: caller.accountId,
      file: Buffer.from(body.cert_b64, 'base64'),
      password: body.password,
    }),
  async handle({ params }, deps, identity) {
    return certificateObject(await storeCertificate(deps, params, identity), deps.clock());
  },
});
