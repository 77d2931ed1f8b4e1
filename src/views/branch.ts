import * as z from 'zod';
import type { Branch } from '../db/entities/enterprises.ts';
import { BRANCH_FIELDS, ENTERPRISE_FIELDS } from '../domain/enterpriseFields.ts';
import { toApiFields } from '../domain/fields.ts';
import { fieldsShape } from './fields.ts';
import { MomentText } from './formats.ts';

const FIELDS = { branch: ENTERPRISE_FIELDS.branch, ...BRANCH_FIELDS } as const;

/** The branch object of the API (docs/contract.md#branches). */
export const BranchView = z
  .object({
    ...fieldsShape(FIELDS),
    closed_at: MomentText.nullable().meta({
      description: 'Since when no CFE is issued from it any more; null while it is open.',
    }),
  })
  .meta({ id: 'Branch', description: 'A place from which the enterprise issues.' });

type Told = Pick<Branch, 'branch' | 'streetName' | 'localityName' | 'departmentName' | 'phoneNumber'>;

/** The branch object; that of the first is made from the enterprise, which has no `closedAt`. */
export function branchView(branch: Told & { closedAt?: Date | null }): z.input<typeof BranchView> {
  return {
    ...toApiFields(FIELDS, branch),
    closed_at: branch.closedAt?.toISOString() ?? null,
  };
}
