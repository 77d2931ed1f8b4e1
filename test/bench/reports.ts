import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import type { Orm } from '../../src/db/orm.ts';
import type { CfeDocument } from '../../src/domain/receipts/cfeDocument.ts';
import { anAccount } from '../support/commandDeps.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { aReadyEnterprise } from '../support/enterprises/enterprises.ts';
import { selfSignedCertificate } from '../support/enterprises/selfSigned.ts';
import { startServices } from '../support/processes/services.ts';
import { aDocument } from './tools/document.ts';

const CFES = Number(process.env['BENCH_CFES'] ?? 200_000);
const ENTERPRISES = Number(process.env['BENCH_ENTERPRISES'] ?? 5_000);
/** Reports made at a time, as activities of one worker would. */
const AT_A_TIME = 4;
const DATE = '2026-11-20';
const SIGNED_AT = '2026-11-21T02:00:00-03:00';

/**
 * The daily reports of a night: one of a company with very many e-Tickets, and one of each of very many companies with a
 * few CFEs; read from the database, summed, written and signed.
 */
export async function run(): Promise<void> {
  const services = await startServices({ say: console.log });
  Object.assign(process.env, services.environment);
  const database = await cloneDatabase();
  try {
    const accountId = await anAccount(database.orm);
    const large = await aReadyEnterprise(database.orm, accountId);
    await fill(database.orm, { accountId, rut: large, count: CFES });
    await fillMany(database.orm, { accountId, like: large, count: ENTERPRISES });
    await database.asOwner('vacuum (analyze) cfe', 'analyze annulment');

    make(`a day of ${CFES.toLocaleString('en')} CFEs of one company`, database.databaseUrl, [large]);
    const title = `${ENTERPRISES.toLocaleString('en')} companies with a report each`;
    make(title, database.databaseUrl, rutsOf(ENTERPRISES));
  } finally {
    await database[Symbol.asyncDispose]();
    await services.stop();
  }
}

/** In a process of its own, so that its memory is that of the work. */
function make(title: string, databaseUrl: string, ruts: readonly string[]): void {
  const program = join(import.meta.dirname, 'makeReports.ts');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const order = JSON.stringify({
    databaseUrl,
    date: DATE,
    signedAt: SIGNED_AT,
    atATime: AT_A_TIME,
    ruts,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    certificate: selfSignedCertificate(privateKey).toString('base64'),
  });
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
    input: order,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  console.log(`${title}: ${stdout.trim()}`);
}

/** The document of the nth CFE in SQL: figures of its own, and dollars in every tenth. */
const DOCUMENT = `?::jsonb || jsonb_build_object('numero', n, 'totals', (?::jsonb -> 'totals') || jsonb_build_object(
  'basicNet', n::text || '.37', 'basicVat', (n * 22 / 100)::text || '.11',
  'currency', case when n % 10 = 0 then 'USD' else 'UYU' end,
  'exchangeRate', case when n % 10 = 0 then '40.123' else '1.000' end))`;
const COLUMNS = `id, held, receipt_token, account_id, rut, environment, type, sequence, cae_id, serie, numero, status, emission_date, currency,
  pay_amount, document, certificate_id, created_at, settled_at`;

function plainDocument(): { document: string; signedAt: string } {
  const document: CfeDocument = { ...aDocument(3), signedAt: `${DATE}T10:00:00-03:00`, emissionDate: DATE };
  return { document: JSON.stringify(document), signedAt: document.signedAt };
}

async function fill(orm: Orm, of: { accountId: string; rut: string; count: number }): Promise<void> {
  const { document, signedAt } = plainDocument();
  await orm.em.fork().execute(
    `insert into cfe (${COLUMNS})
     select gen_random_uuid(), false, gen_random_uuid(), ?, enterprise.rut, 'production', 'ETICKET', n, cae.id, 'A', n, 'ACCEPTED', ?, 'UYU', 1,
       ${DOCUMENT}, certificate.id, ?, ?
     from generate_series(1, ?::integer) n, enterprise join certificate using (rut)
       join cae on cae.rut = enterprise.rut and cae.type = 'ETICKET' where enterprise.rut = ?`,
    [of.accountId, DATE, document, document, signedAt, signedAt, of.count, of.rut],
  );
}

/** CFEs of each company of many. */
const FEW = 5;

const rutsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(300_000_000_000 + index));

/** Companies like that one, by RUTs that nobody checks here, with their papers and a few CFEs each. */
async function fillMany(
  orm: Orm,
  { accountId, like, count }: { accountId: string; like: string; count: number },
): Promise<void> {
  const em = orm.em.fork();
  const { document, signedAt } = plainDocument();
  for (const table of ['enterprise', 'certificate', 'cae']) {
    const columns = await em.execute<{ name: string }[]>(
      `select column_name as name from information_schema.columns where table_name = ? and is_generated = 'NEVER'`,
      [table],
    );
    const names = columns.map(({ name }) => name).join(', ');
    const own = table === 'cae' ? "and type = 'ETICKET'" : '';
    await em.execute(
      `insert into ${table} (${names})
       select ${columns.map(({ name }) => `copy.${name}`).join(', ')}
       from jsonb_array_elements_text(?::jsonb) as given (rut),
         lateral (select * from ${table} where rut = ? ${own}) as model,
         lateral jsonb_populate_record(null::${table},
           to_jsonb(model) || jsonb_build_object('rut', given.rut, 'id', gen_random_uuid())) as copy`,
      [JSON.stringify(rutsOf(count)), like],
    );
  }
  await em.execute(
    `insert into cfe (${COLUMNS})
     select gen_random_uuid(), false, gen_random_uuid(), ?, certificate.rut, 'production', 'ETICKET', n, cae.id, 'A', n, 'ACCEPTED', ?, 'UYU', 1,
       ${DOCUMENT}, certificate.id, ?, ?
     from generate_series(1, ?::integer) n, certificate join cae using (rut)
     where cae.type = 'ETICKET' and certificate.rut <> ?`,
    [accountId, DATE, document, document, signedAt, signedAt, FEW, like],
  );
}
