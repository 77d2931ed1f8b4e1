import { updateEnterprise } from '../../../src/commands/enterprises/updateEnterprise.ts';
import { Enterprise } from '../../../src/db/entities/enterprises.ts';
import { ReportSubmission } from '../../../src/db/entities/reports.ts';
import { putRates } from '../../../src/db/receipts/rates.ts';
import { aCertificate } from '../receipts/papers.ts';
import { storeSubmission } from '../reports/submission.ts';
import type { Sample, Samples } from './consolePages.ts';
import type { Side, World } from './consoleWorld.ts';

/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const REASON = { reason: 'Pedido de la empresa' };
const BRANCH = {
  street_name: 'Uruguay 1',
  locality_name: 'Salto',
  department_name: 'Salto',
  phone_number: '',
};

const of =
  (path: string, fields?: Sample['fields']) =>
  (side: Side): Sample => ({
    path: `/enterprises/${side.rut}${path}`,
    ...(fields ? { fields } : {}),
  });

const PASSWORD = 'clave de prueba';
let number = 3_000;
let branch = 100;

/** RUT, environment and day of a report of that side that was refused, made where it is not there. */
async function aReport({ rut }: Side, { site }: World): Promise<{ path: string; submission: string }> {
  const key = { rut, environment: 'production', date: '2026-03-10' } as const;
  const { orm } = site.deps;
  const find = () => orm.em.fork().findOne(ReportSubmission, { ...key });
  if (!(await find())) await storeSubmission(orm, key, { stuckReason: 'report.content' });
  return { path: `/reports/${rut}/production/2026-03-10`, submission: String((await find())?.id) };
}
const reportForm =
  (act: string) =>
  async (side: Side, world: World): Promise<Sample> => ({
    path: `${(await aReport(side, world)).path}/${act}`,
    fields: REASON,
  });

/** Pages and forms of enterprises, their papers and reports. */
export const ENTERPRISE_PAGES: Samples = {
  'GET /enterprises': { of: 'everyone', sample: () => ({ path: '/enterprises' }) },
  'GET /warnings': { of: 'everyone', sample: () => ({ path: '/warnings?within=90' }) },
  'GET /enterprises/{rut}': { of: 'enterprise', sample: of('') },
  'GET /enterprises/{rut}/logo': {
    of: 'enterprise',
    isFile: true,
    async sample(side, { site }) {
      const update = { logo_b64: { bytes: PNG, mediaType: 'image/png' as const } };
      await updateEnterprise(site.deps, { rut: side.rut, update });
      return of('/logo')(side);
    },
  },
  'POST /enterprises/{rut}/login': {
    of: 'enterprise',
    sample: of('/login', { username: 'ana', password: PASSWORD }),
    mayFail: true,
  },
  'POST /enterprises/{rut}/certificate': {
    of: 'enterprise',
    sample: (side) => {
      const { certB64 } = aCertificate({ rut: side.rut, password: PASSWORD });
      return of('/certificate', { file: Buffer.from(certB64, 'base64'), password: PASSWORD })(side);
    },
  },
  'POST /enterprises/{rut}/caes': {
    of: 'enterprise',
    sample: of('/caes', { file: Buffer.from('<CAE/>'), start: '1' }),
    // Taken where the authority signed it: enterprises.test.ts.
    mayFail: true,
  },
  'POST /enterprises/{rut}/annulments': {
    of: 'enterprise',
    sample: (side) => {
      const one = String((number += 1));
      const numbers = { type: 'ETICKET', serie: 'A', from: one, to: one, environment: 'production' };
      return of('/annulments', { ...numbers, ...REASON })(side);
    },
  },
  'POST /enterprises/{rut}/branches': {
    of: 'enterprise',
    sample: (side) => of('/branches', { ...BRANCH, branch: String((branch += 1)) })(side),
  },
  'POST /enterprises/{rut}/branches/{branch}': {
    of: 'enterprise',
    sample: (side) => of(`/branches/${side.branch}`, BRANCH)(side),
  },
  'POST /enterprises/{rut}/branches/{branch}/close': {
    of: 'enterprise',
    sample: (side) => of(`/branches/${side.branch}/close`, {})(side),
    mayFail: true,
  },
  'POST /enterprises/{rut}/data': {
    of: 'enterprise',
    async sample(side, { site }) {
      const { legalName } = await site.deps.orm.em.fork().findOneOrFail(Enterprise, { rut: side.rut });
      return of('/data', {
        legal_name: legalName,
        trade_name: '',
        phone_number: '24001234',
        email: '',
        website: '',
        street_name: 'Rincón 1',
        locality_name: 'Montevideo',
        department_name: 'Montevideo',
        branch: '1',
        issuer_since: '2020-01-01',
        resolution: '',
        exemption_norm: '',
        vat_up_to_date: 'true',
        small_tickets: 'REPORT_ONLY',
        plan: '["FREE","MONTHLY"]',
        start: '2026-01-01T00:00',
        was: JSON.stringify({ legal_name: legalName }),
      })(side);
    },
  },
  'POST /enterprises/{rut}/logo': { of: 'enterprise', sample: of('/logo', { file: PNG }) },
  'POST /enterprises/{rut}/logo/remove': { of: 'enterprise', sample: of('/logo/remove', {}) },
  'POST /enterprises/{rut}/grants': {
    of: 'enterprise',
    sample: (side, { ours, theirs }) => {
      const account = side === ours ? ours.accountId : theirs.accountId;
      return of('/grants', { account, role: 'VIEWER', ...REASON })(side);
    },
    // Its own account is refused: nobody gets a role that other rows rest on.
    mayFail: true,
  },
  'POST /enterprises/{rut}/grants/remove': {
    of: 'enterprise',
    sample: (side) => of('/grants/remove', { account: side.accountId, ...REASON })(side),
    mayFail: true,
  },
  'POST /enterprises/{rut}/send-report': {
    of: 'enterprise',
    sample: of('/send-report', { date: '2026-03-11', environment: 'sandbox', ...REASON }),
  },
  'POST /enterprises/{rut}/reporting-obligation': {
    of: 'enterprise',
    sample: of('/reporting-obligation', { act: 'start', from: '2026-12-01', ...REASON }),
  },
  'POST /enterprises/{rut}/migrate': {
    of: 'enterprise',
    sample: of('/migrate', { from: '2050-01-01', idemisor: '', ...REASON }),
    // Receipts of the other samples come before that day.
    mayFail: true,
  },
  'POST /enterprises/{rut}/idemisor': {
    of: 'enterprise',
    sample: of('/idemisor', { environment: 'production', next: '9000000001', ...REASON }),
    // Only a number above the last one is taken.
    mayFail: true,
  },
  'POST /enterprises/{rut}/suspend': {
    of: 'enterprise',
    sample: of('/suspend', REASON),
    mayFail: true,
  },
  'POST /enterprises/{rut}/resume': {
    of: 'enterprise',
    sample: of('/resume', REASON),
    mayFail: true,
  },
  'POST /enterprises/{rut}/permissions': {
    of: 'enterprise',
    sample: of('/permissions', { act: 'grant', permission: 'PROD', ...REASON }),
  },
  'POST /enterprises/{rut}/transfer': {
    of: 'enterprise',
    sample: (side) => of('/transfer', { account: side.accountId, ...REASON })(side),
    // To the account that owns it already: the others rest on whose it is.
    mayFail: true,
  },
  'GET /reports': {
    of: 'everyone',
    async sample(side, world) {
      await aReport(side, world);
      return { path: '/reports' };
    },
  },
  'GET /reports/{rut}/{environment}/{date}': {
    of: 'enterprise',
    sample: async (side, world) => ({ path: (await aReport(side, world)).path }),
  },
  'GET /reports/{rut}/{environment}/{date}/xml': {
    of: 'enterprise',
    isFile: true,
    async sample(side, world) {
      const { path, submission } = await aReport(side, world);
      return { path: `${path}/xml?submission=${submission}` };
    },
  },
  'POST /reports/{rut}/{environment}/{date}/send': {
    of: 'enterprise',
    sample: reportForm('send'),
    // It waits for a person.
    mayFail: true,
  },
  'POST /reports/{rut}/{environment}/{date}/retry': {
    of: 'enterprise',
    sample: reportForm('retry'),
  },
  'POST /reports/{rut}/{environment}/{date}/settle': {
    of: 'enterprise',
    sample: reportForm('settle'),
  },
  'GET /rates': {
    of: 'everyone',
    async sample(_side, { site }) {
      const rate = { currency: 'USD', date: '2026-03-10', rate: '40.125', source: 'BCU' } as const;
      await putRates(site.deps.orm.em.fork(), [rate]);
      return { path: '/rates' };
    },
  },
  'POST /rates/ui': {
    of: 'everyone',
    sample: async () => ({
      path: '/rates/ui',
      fields: { year: '2049', value: '6.5', source: 'INE', kind: 'published' },
    }),
  },
};
