import type { EntityManager } from '@mikro-orm/postgresql';
import type { Cfe } from './entities/Cfe.ts';
import { Sobre } from './entities/Sobre.ts';

/** One thing that happened to a CFE. */
export interface CfeHappening {
  at: string;
  what: string;
}

/** What happened to a CFE, oldest first, as its rows tell. */
export async function cfeHistory(em: EntityManager, cfe: Cfe): Promise<CfeHappening[]> {
  const sobres = await em.find(Sobre, { cfeId: cfe.id }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  const happenings = [
    { at: cfe.createdAt, what: 'numbered' },
    ...sobres.flatMap(({ idemisor, createdAt, sendingAt, receivedAt, state }) => [
      { at: createdAt, what: `sobre ${idemisor} made` },
      { at: sendingAt, what: `sobre ${idemisor} ${state === 'REFUSED' ? 'sent, and refused' : 'sent'}` },
      { at: receivedAt, what: `sobre ${idemisor} received by the authority` },
    ]),
    { at: cfe.settledAt, what: cfe.status.toLowerCase() },
  ];
  return happenings
    .flatMap(({ at, what }) => (at ? [{ at: at.toISOString(), what }] : []))
    .toSorted((a, b) => a.at.localeCompare(b.at));
}
