import { z } from 'zod';
import { ENVIRONMENT_NAMES } from '../environments.ts';
import { issueCertificate, toPkcs12 } from '../security/issuing.ts';
import { dayOrMoment, environment, read, rut } from './input.ts';
import type { PortalRoute } from './route.ts';

const Body = z.strictObject({
  environment,
  rut,
  legal_name: z.string().trim().min(1).max(150).optional(),
  password: z.string().min(1).max(128),
  not_before: dayOrMoment.optional(),
  not_after: dayOrMoment.optional(),
});

const DAY_MS = 86_400_000;
const TWO_YEARS_DAYS = 730;

/**
 * Issues a company's certificate as a .p12, by default valid from yesterday for two years. Neither the private key nor
 * the password is stored. One certificate serves both environments.
 */
export const makeCertificate: PortalRoute = {
  method: 'POST',
  path: '/portal/certificates',
  async handle({ body }, { authority, clock }) {
    const order = read(Body, body);
    const name = order.legal_name ?? `EMPRESA ${order.rut}`;
    const notBefore =
      order.not_before ??
      new Date(Math.min(clock().getTime(), order.not_after?.getTime() ?? Infinity) - DAY_MS);
    const notAfter = order.not_after ?? new Date(notBefore.getTime() + TWO_YEARS_DAYS * DAY_MS);
    const credential = await issueCertificate({
      subject: { commonName: name, rut: order.rut },
      notBefore,
      notAfter,
      issuer: authority.root,
    });
    const file = toPkcs12(credential, order.password, name);
    return { status: 201, json: { cert_b64: file.toString('base64'), password: order.password } };
  },
};

/** The certificate of the authority that issues the companies' certificates, as PEM. */
export const certificateAuthorities: PortalRoute = {
  method: 'GET',
  path: '/portal/certificate-authorities',
  handle(_request, { authority }) {
    return { status: 200, contentType: 'application/x-pem-file', text: authority.root.certificate };
  },
};

/** The certificates of both environments that sign CAEs and answers, as PEM. */
export const authorityCertificates: PortalRoute = {
  method: 'GET',
  path: '/portal/authority-certificates',
  handle(_request, { authority }) {
    const text = ENVIRONMENT_NAMES.map((name) => authority.signers[name].certificate.toString()).join('');
    return { status: 200, contentType: 'application/x-pem-file', text };
  },
};
