import { type Opener, UnsealError } from '../crypto/sealed.ts';
import {
  countSealedByKey,
  listSealedUnderOtherKeys,
  replaceSealed,
  SEALED_COLUMNS,
  type SealedColumn,
} from '../db/sealed.ts';
import { Refusal } from '../errors.ts';
import { audited } from './steps/audited.ts';
import type { CommandDeps } from './steps/deps.ts';

/** Rows read at a time. */
const BATCH = 200;

export interface RotationDeps extends CommandDeps {
  readonly opener: Opener;
}

/** What became of the secrets of a column. */
interface Pass {
  resealed: number;
  /** Changed by another process between our reading and our writing. */
  overtaken: number;
}

/**
 * Seals every secret anew under the first key-encryption key. One row at a time and only where it is still what was
 * read: it runs beside everything else, twice at once, and again after it was broken off. Answers how many were sealed again. Refuses, once all others are done, when some are still under other keys
 * (UNAVAILABLE).
 */
export async function rotateKeyEncryption(deps: RotationDeps): Promise<{ keyId: string; resealed: number }> {
  const [keyId] = deps.opener.keyIds;
  if ((await leftOver(deps, keyId)) === 0) return { keyId, resealed: 0 };
  // First, for the work has no one transaction: whatever was done of it, the audit tells who began it.
  await deps.orm.em.fork().transactional(async (em) => {
    audited(deps, em, { action: 'key_encryption.rotate', subject: keyId }, deps.clock());
  });
  let resealed = 0;
  for (const column of SEALED_COLUMNS) {
    for (let pass = await reseal(deps, column, keyId); ; pass = await reseal(deps, column, keyId)) {
      resealed += pass.resealed;
      if (pass.overtaken === 0) break;
    }
  }
  const left = await leftOver(deps, keyId);
  if (left === 0) return { keyId, resealed };
  throw new Refusal(
    'UNAVAILABLE',
    `${resealed} secrets were sealed again under ${keyId}; ${left} are still sealed under other keys: no configured key opens them, or a running program still seals with another key. See key-encryption status.`,
  );
}

/** One way through a column. */
async function reseal({ orm, opener }: RotationDeps, column: SealedColumn, keyId: string): Promise<Pass> {
  const em = orm.em.fork();
  const pass: Pass = { resealed: 0, overtaken: 0 };
  let after: string | undefined;
  for (;;) {
    const rows = await listSealedUnderOtherKeys(em, column, { keyId, after, limit: BATCH });
    for (const row of rows) {
      const sealed = sealedAnew(opener, row.sealed, column.belongsTo(row.owner, row.id));
      if (sealed === null) continue;
      if (await replaceSealed(em, column, row, sealed)) pass.resealed += 1;
      else pass.overtaken += 1;
    }
    after = rows.at(-1)?.id;
    if (after === undefined) return pass;
  }
}

/** Null where no configured key opens it. */
function sealedAnew(opener: Opener, ...secret: Parameters<Opener['reseal']>): string | null {
  try {
    return opener.reseal(...secret);
  } catch (error) {
    if (error instanceof UnsealError) return null;
    throw error;
  }
}

/** How many secrets stand under other keys. */
async function leftOver({ orm }: RotationDeps, keyId: string): Promise<number> {
  const em = orm.em.fork();
  let left = 0;
  for (const column of SEALED_COLUMNS) {
    for (const under of await countSealedByKey(em, column)) if (under.key_id !== keyId) left += under.count;
  }
  return left;
}
