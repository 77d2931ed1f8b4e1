import { currentCertificate } from '../../db/certificates.ts';
import { certificateObject } from '../../domain/enterpriseObject.ts';
import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { defineRoute } from '../route.ts';
import { CertificateView } from '../views/certificate.ts';

/** GET …/certificate: the certificate that signs. */
export const getCertificate = defineRoute({
  name: 'getCertificate',
  method: 'GET',
  path: '/enterprises/{rut}/certificate',
  summary: 'Read certificate',
  about: 'The certificate that signs; 404 before the first upload.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut },
  query: null,
  body: null,
  success: { status: 200, description: 'The certificate', schema: CertificateView },
  errors: ['NOT_FOUND'],
  async handle({ enterprise }, { orm, clock }) {
    const certificate = await currentCertificate(orm.em.fork(), enterprise.rut, 'production');
    if (!certificate)
      throw new Refusal('NOT_FOUND', `The enterprise ${enterprise.rut} has no certificate yet.`);
    return certificateObject(certificate, clock());
  },
});
