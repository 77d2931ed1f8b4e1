import type { readConfig } from '../config.ts';
import type { DrawSheet, SoftwareProvider } from '../domain/enterprises/application.ts';
import { VERSION } from '../domain/operations/version.ts';

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
