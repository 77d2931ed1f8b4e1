import * as z from 'zod';
import type { Enterprise } from '../db/entities/enterprises.ts';
import { EfacturaStatusName } from '../domain/enums.ts';
import { MomentText } from './formats.ts';

/** The e-invoicing credentials status (docs/contract.md#credentials). */
export const CredentialsView = z
  .object({
    is_valid: z.boolean().meta({ description: 'Whether the last login succeeded.' }),
    status: EfacturaStatusName,
    last_validated_at: MomentText.nullable().meta({
      description: 'When the last check ended, UTC; null before the first.',
    }),
  })
  .meta({
    id: 'CredentialsStatus',
    description: 'What is known of the enterprise’s e-invoicing login at the authority.',
  });

/** The state of an enterprise's e-invoicing login. */
export function credentialsView(enterprise: Enterprise): z.input<typeof CredentialsView> {
  return {
    is_valid: enterprise.loginStatus === 'SUCCESS',
    status: enterprise.efacturaStatus,
    last_validated_at: enterprise.lastValidatedAt?.toISOString() ?? null,
  };
}
