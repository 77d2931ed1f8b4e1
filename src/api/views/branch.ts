import * as z from 'zod';
import type { Branch } from '../../db/entities/Branch.ts';
import { ENTERPRISE_WORDS, words } from '../../domain/fieldWords.ts';
import { MomentText } from './formats.ts';

/** The branch object of the API (docs/contract.md#branches). */
export const BranchView = z
  .object({
    branch: z.int().min(0).meta(words(ENTERPRISE_WORDS.branch)),
    street_name: z.string().meta(words(ENTERPRISE_WORDS.street_name)),
    locality_name: z.string().meta(words(ENTERPRISE_WORDS.locality_name)),
    department_name: z.string().meta(words(ENTERPRISE_WORDS.department_name)),
    phone_number: z.string().nullable().meta(words(ENTERPRISE_WORDS.phone_number)),
    closed_at: MomentText.nullable().meta({
      description: 'Since when no CFE is issued from it any more; null while it is open.',
    }),
  })
  .meta({ id: 'Branch', description: 'A place from which the enterprise issues.' });

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
