import { type Opener, UnsealError } from '../../crypto/sealed.ts';
import {
  countSealedByKey,
  listSealedUnderOtherKeys,
  replaceSealed,
  SEALED_COLUMNS,
  type SealedColumn,
} from '../../db/operations/sealed.ts';
import { Refusal } from '../../errors.ts';
import { auditAct } from '../steps/auditAct.ts';
import type { CommandDeps } from '../steps/deps.ts';

/** Rows read at a time. */
const BATCH = 200;

export interface RotationDeps extends CommandDeps {
  readonly opener: Opener;
}

/** The result of one pass over a column. */
interface Pass {
  resealed: number;
  /** Changed by another process between reading and writing. */
  overtaken: number;
}

/**
 * Re-encrypts every secret under the first key-encryption key. It writes one row at a time, only if
 * unchanged, so it is safe to run concurrently and to repeat. Throws UNAVAILABLE when secrets under other
 * keys remain.
 */
export async function rotateKeyEncryption(deps: RotationDeps): Promise<{ keyId: string; resealed: number }> {
  const [keyId] = deps.opener.keyIds;
  if ((await countUnderOtherKeys(deps, keyId)) === 0) return { keyId, resealed: 0 };
  // Audited first, because the work has no single transaction.
  await deps.orm.em.fork().transactional(async (em) => {
    auditAct(deps, em, { action: 'key_encryption.rotate', subject: keyId }, deps.clock());
  });
  let resealed = 0;
  for (const column of SEALED_COLUMNS) {
    for (
      let pass = await resealColumn(deps, column, keyId);
      ;
      pass = await resealColumn(deps, column, keyId)
    ) {
      resealed += pass.resealed;
      if (pass.overtaken === 0) break;
    }
  }
  const left = await countUnderOtherKeys(deps, keyId);
  if (left === 0) return { keyId, resealed };
  throw new Refusal(
    'UNAVAILABLE',
    `${resealed} secrets were re-encrypted under ${keyId}; ${left} are still encrypted under other keys: no configured key decrypts them, or a running program still encrypts with another key. See key-encryption status.`,
  );
}

async function resealColumn(
  { orm, opener }: RotationDeps,
  column: SealedColumn,
  keyId: string,
): Promise<Pass> {
  const em = orm.em.fork();
  const pass: Pass = { resealed: 0, overtaken: 0 };
  let after: string | undefined;
  for (;;) {
    const rows = await listSealedUnderOtherKeys(em, column, { keyId, after, limit: BATCH });
    for (const row of rows) {
      const sealed = tryReseal(opener, row.sealed, column.belongsTo(row.owner, row.id));
      if (sealed === null) continue;
      if (await replaceSealed(em, column, row, sealed)) pass.resealed += 1;
      else pass.overtaken += 1;
    }
    after = rows.at(-1)?.id;
    if (after === undefined) return pass;
  }
}

/** Re-encrypts a secret; returns null when no configured key opens it. */
function tryReseal(opener: Opener, ...secret: Parameters<Opener['reseal']>): string | null {
  try {
    return opener.reseal(...secret);
  } catch (error) {
    if (error instanceof UnsealError) return null;
    throw error;
  }
}

/** Counts the secrets sealed under other keys. */
async function countUnderOtherKeys({ orm }: RotationDeps, keyId: string): Promise<number> {
  const em = orm.em.fork();
  let left = 0;
  for (const column of SEALED_COLUMNS) {
    for (const { key_id, count } of await countSealedByKey(em, column)) if (key_id !== keyId) left += count;
  }
  return left;
}
