import type { EntityManager } from '@mikro-orm/postgresql';

/** Makes a stored CFE refer to others and take nothing of them; `held`: until they have their verdicts. */
export async function referTo(
  em: EntityManager,
  cfeUuid: string,
  originalIds: readonly string[],
  { held }: { held: boolean },
): Promise<void> {
  for (const originalId of originalIds)
    await em.execute('insert into cfe_reference (cfe_uuid, original_id, taken) values (?, ?, 0)', [
      cfeUuid,
      originalId,
    ]);
  await em.execute('update cfe set held = ? where id = ?', [held, cfeUuid]);
}

/** The UUIDs of the CFEs that a stored CFE refers to. */
export async function originalsOf(em: EntityManager, cfeUuid: string): Promise<string[]> {
  const rows = await em.execute<{ id: string }[]>(
    'select original_id as id from cfe_reference where cfe_uuid = ?',
    [cfeUuid],
  );
  return rows.map(({ id }) => id);
}
