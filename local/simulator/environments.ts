/**
 * The authority's two environments, each with its own RUC, numbers and ledger (docs/authority/services.md#endpoints).
 */
export const ENVIRONMENTS = {
  production: { rut: '214844360018', name: 'DIRECCION GENERAL IMPOSITIVA (SIMULADOR)' },
  sandbox: { rut: '219999830019', name: '***TEST*** DGI (SIMULADOR)' },
} as const;

export type EnvironmentName = keyof typeof ENVIRONMENTS;

/** The names of the environments, in the order in which they are listed. */
export const ENVIRONMENT_NAMES = ['production', 'sandbox'] as const satisfies readonly EnvironmentName[];

/** Whether a string names an environment. */
export const isEnvironment = (value: string | undefined): value is EnvironmentName =>
  value === 'production' || value === 'sandbox';
