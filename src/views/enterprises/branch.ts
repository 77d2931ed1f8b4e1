import * as z from 'zod';
import type { Branch } from '../../db/entities/enterprises.ts';
import { BRANCH_FIELDS, ENTERPRISE_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import { toApiFields } from '../../domain/requests/fields.ts';
import { fieldsShape } from '../fields.ts';
import { MomentText } from '../formats.ts';

const FIELDS = { branch: ENTERPRISE_FIELDS.branch, ...BRANCH_FIELDS } as const;

/** The branch object of the API (docs/contract.md#branches). */
export const BranchView = z
  .object({
    ...fieldsShape(FIELDS),
    closed_at: MomentText.nullable().meta({
      description: 'When it was closed, UTC; null while it is open.',
    }),
  })
  .meta({ id: 'Branch', description: 'A location from which the enterprise issues.' });

type BranchData = Pick<Branch, 'branch' | 'streetName' | 'localityName' | 'departmentName' | 'phoneNumber'>;

/** Returns the branch object; the first branch is the enterprise itself, which has no `closedAt`. */
export function branchView(branch: BranchData & { closedAt?: Date | null }): z.input<typeof BranchView> {
  return {
    ...toApiFields(FIELDS, branch),
    closed_at: branch.closedAt?.toISOString() ?? null,
  };
}
