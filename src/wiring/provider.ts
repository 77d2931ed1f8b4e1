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

/** Draws a sheet; the fonts are loaded with the first one. */
export const drawSheet: DrawSheet = async (sheet, of) => {
  const { drawApplicationSheet } = await import('../print/applicationSheet.ts');
  return drawApplicationSheet(sheet, of);
};

/** Variables by which the operator's reports are signed. */
export const SIGNING_VARIABLES = [
  'CFE_PROVIDER_RUT',
  'CFE_SERVICE_CERTIFICATE_FILE',
  'CFE_SERVICE_CERTIFICATE_PASSWORD',
  'CFE_DGI_CFE_HASH',
] as const;

/** Opens the signature of the operator's reports. Throws ConfigurationError without a certificate of that RUT. */
export async function openProviderSigner(
  config: ReturnType<typeof readConfig<(typeof SIGNING_VARIABLES)[number]>>,
): Promise<SignProviderReport> {
  const credentials = await serviceCredentials(config);
  if (!credentials)
    throw new ConfigurationError('CFE_SERVICE_CERTIFICATE_FILE must be set to sign the report');
  const { subject } = new X509Certificate(credentials.certificateDer);
  if (!subject.split('\n').includes(`serialNumber=RUC${config.CFE_PROVIDER_RUT}`)) {
    throw new ConfigurationError(
      'the certificate in CFE_SERVICE_CERTIFICATE_FILE is not that of CFE_PROVIDER_RUT',
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
