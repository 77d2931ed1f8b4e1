import * as z from 'zod';
import { countCfes, searchCfes } from '../../db/cfeSearch.ts';
import { date } from '../../domain/dates.ts';
import { CfeStatusName, CfeTypeName } from '../../domain/enums.ts';
import { Rut } from '../../domain/rut.ts';
import { environmentRead, environmentToRead } from '../environmentRead.ts';
import { pageOf } from '../paging.ts';
import { defineRoute } from '../route.ts';
import { CfeListView, cfeView } from '../views/cfe.ts';

const LARGEST_PAGE = 100;
const USUAL_PAGE = 25;

/** GET …/cfes: the enterprise's CFEs, newest first, a page at a time (docs/contract.md#lists). */
export const listCfes = defineRoute({
  name: 'listCfes',
  method: 'GET',
  path: '/enterprises/{rut}/cfes',
  summary: 'List CFEs',
  about: 'The enterprise’s CFEs, newest first.',
  auth: 'token',
  sandbox: false,
  role: 'VIEWER',
  params: { rut: Rut },
  query: z.strictObject({
    ...pageOf('CFEs', { usual: USUAL_PAGE, largest: LARGEST_PAGE }),
    cfe_type: CfeTypeName.optional().meta({ description: 'Only CFEs of this type.' }),
    cfe_status: CfeStatusName.optional().meta({ description: 'Only CFEs with this status.' }),
    from: date().optional().meta({ description: 'Earliest emission date; that day counts.' }),
    to: date().optional().meta({ description: 'Latest emission date; that day counts.' }),
    ...environmentToRead,
  }),
  body: null,
  success: { status: 200, description: 'A page of CFEs, and the total number', schema: CfeListView },
  errors: [],
  async handle({ caller, enterprise, query }, { orm, publicUrl }) {
    const { skip = 0, limit = USUAL_PAGE, cfe_type: type, cfe_status: status, from, to } = query;
    const em = orm.em.fork();
    const environment = environmentRead(caller, query);
    const filter = { rut: enterprise.rut, environment, type, status, from, to };
    const { cfes } = await searchCfes(em, null, filter, { skip, limit });
    return {
      items: cfes.map((cfe) => cfeView(cfe, { publicUrl })),
      total: await countCfes(em, null, filter),
    };
  },
});
