import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { requestExport } from '../../src/commands/receipts/exports.ts';
import { exportBytes, findExport, streamExport } from '../../src/db/receipts/receiptExports.ts';
import type { CfeDocument } from '../../src/domain/receipts/cfeDocument.ts';
import { anAccount, idleOutbox } from '../support/commandDeps.ts';
import { cloneDatabase, type TestDatabase } from '../support/database/database.ts';
import { aReadyEnterprise } from '../support/enterprises/enterprises.ts';
import { startServices } from '../support/processes/services.ts';
import { testedNames } from '../support/unzipped.ts';
import { aDocument } from './tools/document.ts';

const CFES = Number(process.env['BENCH_CFES'] ?? 100_000);
const DATE = '2026-11-20';
const SIGNED_AT = `${DATE}T10:00:00-03:00`;
const NOW = new Date('2026-11-23T12:00:00Z');

/** A month's receipts of one company as one file: made in a process of its own, so that its memory is that of the work, and read as a download reads it. */
export async function run(): Promise<void> {
  const services = await startServices({ say: console.log });
  Object.assign(process.env, services.environment);
  const database = await cloneDatabase();
  try {
    const accountId = await anAccount(database.orm);
    const rut = await aReadyEnterprise(database.orm, accountId, { caes: [{ type: 'ETICKET' }] });
    await fill(database, { accountId, rut });
    const at = performance.now();
    const deps = { orm: database.orm, clock: () => NOW, outbox: idleOutbox, actor: 'cli:bench' } as const;
    const asked = await requestExport(deps, {
      rut,
      environment: 'production',
      month: DATE.slice(0, 7),
      withPdfs: false,
    });
    console.log(`asked for: ${seconds(at)} s, ${asked.total.toLocaleString('en')} receipts`);
    const program = join(import.meta.dirname, 'makeExport.ts');
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [program, database.databaseUrl, asked.id],
      {
        encoding: 'utf8',
      },
    );
    if (status !== 0) throw new Error(stderr);
    console.log(`made: ${stdout.trim()}`);
    await read(database, asked.id);
  } finally {
    await database[Symbol.asyncDispose]();
    await services.stop();
  }
}

const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);

async function read({ orm }: TestDatabase, id: string): Promise<void> {
  const found = await findExport(orm.em.fork(), id);
  if (!found) throw new Error('the export is gone');
  const folder = mkdtempSync(join(tmpdir(), 'bench-exports-'));
  try {
    const file = join(folder, 'month.zip');
    const at = performance.now();
    await pipeline(Readable.from(streamExport(() => orm.em.fork(), found)), createWriteStream(file));
    console.log(`read: ${seconds(at)} s, ${(exportBytes(found) / 1e6).toFixed(0)} MB in ${found.parts} rows`);
    const names = testedNames(file);
    console.log(`unzip finds ${names.length.toLocaleString('en')} entries, all whole`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Signed CFEs of some five kilobytes, each with a signature of its own; their certificate is in each of them, as in real ones. */
async function fill(database: TestDatabase, of: { accountId: string; rut: string }): Promise<void> {
  const document: CfeDocument = { ...aDocument(3), signedAt: SIGNED_AT, emissionDate: DATE };
  const lines = document.lines.map(({ name }) => `<Item><NomItem>${name}</NomItem></Item>`).join('');
  await database.orm.em.fork().execute(
    `insert into cfe (id, held, receipt_token, account_id, rut, environment, type, sequence, cae_id, serie, numero, status, emission_date, currency,
       pay_amount, document, certificate_id, digest, signed_xml, created_at, settled_at)
     select gen_random_uuid(), false, gen_random_uuid(), ?, enterprise.rut, 'production', 'ETICKET', n, cae.id, 'A', n, 'ACCEPTED', ?, 'UYU', 1,
       ?::jsonb, certificate.id, md5(n::text), '<CFE><Nro>' || n || '</Nro>' || ? || '<SignatureValue>' ||
         (select string_agg(md5(n::text || i), '') from generate_series(1, 16) i) || '</SignatureValue><X509Certificate>' ||
         (select string_agg(md5(i::text), '') from generate_series(1, 90) i) || '</X509Certificate></CFE>',
       ?::timestamptz + n * interval '1 millisecond', ?
     from generate_series(1, ?::integer) n, enterprise join certificate using (rut) join cae using (rut)
     where enterprise.rut = ?`,
    [of.accountId, DATE, JSON.stringify(document), lines, SIGNED_AT, SIGNED_AT, CFES, of.rut],
  );
  await database.asOwner('vacuum (analyze) cfe');
}
