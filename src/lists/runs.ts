import * as z from 'zod';
import type { Run } from '../db/entities/operations.ts';
import { listRefusals, listRuns, type Refused } from '../db/operations/runs.ts';
import { listStuckCfes, type StuckCfe } from '../db/operations/runTargets.ts';
import { listOrder, newestFirst } from '../db/page.ts';
import { personOf } from '../domain/operations/audit.ts';
import { RUN_STATES, type StuckCfeFilter } from '../domain/operations/run.ts';
import { formatCfeId } from '../domain/receipts/cfeId.ts';
import { refusalMeans } from '../words/refusals.ts';
import { type FilterValues, listOf, type VisibleTo } from './list.ts';

const RUN_FILTERS = { state: { schema: z.enum(RUN_STATES), only: 'runs in this state' } } as const;

/** Bulk runs, newest first. */
export const RUNS = listOf<Run, FilterValues<typeof RUN_FILTERS> & VisibleTo>()({
  name: 'runs',
  filters: RUN_FILTERS,
  columns: {
    run_id: 'id',
    kind: 'kind',
    state: 'state',
    total: 'total',
    done: 'done',
    unneeded: 'unneeded',
    refused: 'refused',
    by: ({ actor }) => personOf(actor) ?? actor,
    reason: 'reason',
    created_at: 'createdAt',
    moved_at: 'movedAt',
    ended_at: 'endedAt',
    account_id: 'accountId',
  },
  key: newestFirst('text'),
  read: (em, search, page) => listRuns(em, search, page),
});

interface RefusalSearch extends Pick<Run, 'id' | 'kind'> {
  readonly language: 'en' | 'es';
}

/** Refused items of a run, in order, with the reason in a language. */
export const REFUSALS = listOf<Refused & { readonly message: string | null }, RefusalSearch>()({
  name: 'refused',
  filters: {},
  columns: {
    thing: ({ item, cfe }) => (cfe ? `${cfe.rut} ${formatCfeId(cfe)}` : item.subject),
    was: ({ item }) => item.was,
    why: ({ item }) => item.why?.code,
    message: 'message',
  },
  key: { parts: ['number'], of: ({ item }) => [String(item.place)] },
  read: async (em, { language, ...run }, page) =>
    (await listRefusals(em, run, page)).map(({ item, cfe }) => ({
      item,
      cfe,
      // A refusal without a code has only its text.
      message: item.why ? refusalMeans(item.why, language) : (item.message ?? null),
    })),
});

/** CFEs that need support, oldest first. */
export const STUCK_CFES = listOf<StuckCfe, StuckCfeFilter>()({
  name: 'stuck',
  filters: {},
  columns: {
    cfe_id: formatCfeId,
    rut: 'rut',
    environment: 'environment',
    type: 'type',
    status: 'status',
    stuck_reason: 'reason',
    taken_at: ({ since }) => new Date(since),
  },
  key: listOrder({ since: 'moment', id: 'uuid' }),
  read: (em, filter, page) => listStuckCfes(em, filter, page),
});
