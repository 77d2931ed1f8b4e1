import { uploadCertificate as upload } from '../../commands/uploadCertificate.ts';
import { UploadCertificate } from '../../domain/enterprise.ts';
import { certificateObject } from '../../domain/enterpriseObject.ts';
import { Rut } from '../../domain/rut.ts';
import { BODY_LIMITS, defineRoute } from '../route.ts';
import { CertificateView } from '../views/certificate.ts';

/** POST …/certificate: the certificate that signs from now on (interface.md 4.10). */
export const uploadCertificate = defineRoute({
  name: 'uploadCertificate',
  method: 'POST',
  path: '/enterprises/{rut}/certificate',
  summary: 'Upload certificate',
  auth: 'token',
  sandbox: false,
  role: 'OWNER',
  params: { rut: Rut },
  query: null,
  body: { schema: UploadCertificate, limitBytes: BODY_LIMITS.file },
  success: { status: 201, description: 'The certificate', schema: CertificateView },
  errors: [],
  async handle({ params, body }, deps) {
    const certificate = await upload(deps, {
      rut: params.rut,
      file: Buffer.from(body.cert_b64, 'base64'),
      password: body.password,
    });
    return certificateObject(certificate, deps.clock());
  },
});
