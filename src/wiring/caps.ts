import type { readConfig } from '../config.ts';
import type { Caps } from '../domain/people/caps.ts';

export const CAP_VARIABLES = [
  'CFE_MOST_WEBHOOKS',
  'CFE_MOST_API_KEYS',
  'CFE_MOST_CUSTOMERS',
  'CFE_MOST_UNPROVEN_ENTERPRISES',
] as const;

export function capsOf(config: ReturnType<typeof readConfig<(typeof CAP_VARIABLES)[number]>>): Caps {
  return {
    webhooks: config.CFE_MOST_WEBHOOKS,
    apiKeys: config.CFE_MOST_API_KEYS,
    customers: config.CFE_MOST_CUSTOMERS,
    unprovenEnterprises: config.CFE_MOST_UNPROVEN_ENTERPRISES,
  };
}
