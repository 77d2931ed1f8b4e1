import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { LogoType } from '../domain/logo.ts';
import { Logo } from './entities/Logo.ts';

/** Stores a picture unless it is there already, and answers its SHA-256 in hex, by which enterprises name it. */
export async function keepLogo(
  em: EntityManager,
  { bytes, mediaType }: { bytes: Uint8Array; mediaType: LogoType },
  now: Date,
): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await em
    .createQueryBuilder(Logo)
    .insert({ sha256, mediaType, bytes: Buffer.from(bytes), createdAt: now })
    .onConflict('sha256')
    .ignore()
    .execute();
  return sha256;
}

/** The picture with this SHA-256, by which receipts name it. */
export function findLogo(em: EntityManager, sha256: string): Promise<Logo | null> {
  return em.findOne(Logo, { sha256 });
}
