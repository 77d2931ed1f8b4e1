import * as z from 'zod';
import type { Branch } from '../../db/entities/Branch.ts';
import { MomentText } from './formats.ts';

/** The branch object of the API (docs/contract.md#branches). */
export const BranchView = z
  .object({
    branch: z.number().int().meta({ description: 'Code that the tax authority gave to the branch' }),
    street_name: z.string(),
    locality_name: z.string(),
    department_name: z.string(),
    phone_number: z.string().nullable(),
    closed_at: MomentText.nullable().meta({ description: 'Since when no CFE is issued from it any more' }),
  })
  .meta({ id: 'Branch' });

type Told = Pick<Branch, 'branch' | 'streetName' | 'localityName' | 'departmentName' | 'phoneNumber'>;

/** The branch object; that of the first is made from the enterprise, which has no `closedAt`. */
export function branchView(branch: Told & { closedAt?: Date | null }): z.input<typeof BranchView> {
  return {
    branch: branch.branch,
    street_name: branch.streetName,
    locality_name: branch.localityName,
    department_name: branch.departmentName,
    phone_number: branch.phoneNumber ?? null,
    closed_at: branch.closedAt?.toISOString() ?? null,
  };
}
