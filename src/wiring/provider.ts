import { X509Certificate } from 'node:crypto';
import type { SignProviderReport } from '../commands/reports/providerReport.ts';
import { ConfigurationError, type readConfig } from '../config.ts';
import type { DrawSheet, SoftwareProvider } from '../domain/enterprises/application.ts';
import { VERSION } from '../domain/operations/version.ts';
import { serviceCredentials } from './rutLookUp.ts';

/** Variables about the operator of the service. */
export const PROVIDER_VARIABLES = ['CFE_PROVIDER_RUT', 'CFE_PROVIDER_PRODUCT'] as const;

/** Returns the operator of the service, as in its declarations to the authority. */
export const providerOf = (
  config: ReturnType<typeof readConfig<(typeof PROVIDER_VARIABLES)[number]>>,
): SoftwareProvider => ({
  rut: config.CFE_PROVIDER_RUT,
  product: config.CFE_PROVIDER_PRODUCT,
  version: VERSION,
});

/** Draws a sheet; loads the fonts with the first sheet. */
export const drawSheet: DrawSheet = async (...sheet) =>
  (await import('../print/applicationSheet.ts')).drawApplicationSheet(...sheet);

/** Variables for signing the operator's reports. */
export const SIGNING_VARIABLES = [
  'CFE_PROVIDER_RUT',
  'CFE_SERVICE_CERTIFICATE_FILE',
  'CFE_SERVICE_CERTIFICATE_PASSWORD',
  'CFE_DGI_CFE_HASH',
] as const;

/** Opens the signer of the operator's reports. Throws ConfigurationError without a certificate of CFE_PROVIDER_RUT. */
export async function openProviderSigner(
  config: ReturnType<typeof readConfig<(typeof SIGNING_VARIABLES)[number]>>,
): Promise<SignProviderReport> {
  const credentials = await serviceCredentials(config);
  if (!credentials)
    throw new ConfigurationError('CFE_SERVICE_CERTIFICATE_FILE must be set to sign the report');
  const { subject } = new X509Certificate(credentials.certificateDer);
  if (!subject.split('\n').includes(`serialNumber=RUC${config.CFE_PROVIDER_RUT}`)) {
    throw new ConfigurationError(
      'the certificate in CFE_SERVICE_CERTIFICATE_FILE is of another RUT than CFE_PROVIDER_RUT',
    );
  }
  const [{ createSigner }, { writeProviderReport }] = await Promise.all([
    import('../dgi/sign.ts'),
    import('../dgi/xml/providerReport.ts'),
  ]);
  const signer = createSigner({ ...credentials, hash: config.CFE_DGI_CFE_HASH });
  return (report) => {
    const unsigned = writeProviderReport(report);
    return { unsigned, xml: signer.sign(unsigned).xml };
  };
}
