import type { Orm } from '../../../src/db/orm.ts';
import type { CfeDocument } from '../../../src/domain/receipts/cfeDocument.ts';
import type { CfeStatus } from '../../../src/domain/receipts/cfeStatus.ts';
import type { Environment } from '../../../src/domain/receipts/cfeTypes.ts';

/** A CFE as it stands in the table. */
export interface StoredCfe {
  document: CfeDocument;
  status: CfeStatus;
  /** Codes of its rejection. */
  codes?: readonly string[];
  /** False for one that never was signed. */
  signed?: boolean;
}

/**
 * Puts CFEs of an enterprise with papers into the table, each numbered at the moment that its document says; then they get
 * their statuses, by updates as in real life, so that what hangs on these happens. A verdict comes at `settledAt`.
 */
export async function storeCfes(
  orm: Orm,
  of: { accountId: string; rut: string; environment?: Environment; settledAt: Date },
  cfes: readonly StoredCfe[],
): Promise<void> {
  const { accountId, rut, environment = 'production', settledAt } = of;
  await orm.em.fork().transactional(async (em) => {
    await em.execute(
      `with given as (
         select document, signed, row_number() over () as n
         from jsonb_to_recordset(?::jsonb) as given (document jsonb, signed boolean))
       insert into cfe (id, held, receipt_token, account_id, rut, environment, type, sequence, cae_id, serie, numero, status, emission_date,
         currency, pay_amount, document, certificate_id, created_at, signed_xml, digest)
       select gen_random_uuid(), false, gen_random_uuid(), ?, ?, ?, document ->> 'type',
         n + (select coalesce(max(sequence), 0) from cfe where cfe.rut = ? and cfe.environment = ?),
         (select id from cae where cae.rut = ? and cae.type = document ->> 'type' limit 1), document ->> 'serie',
         (document ->> 'numero')::integer, 'PENDING', (document ->> 'emissionDate')::date,
         document -> 'totals' ->> 'currency', (document -> 'totals' ->> 'pay')::numeric, document,
         (select id from certificate where certificate.rut = ? limit 1), (document ->> 'signedAt')::timestamptz,
         case when signed then '<CFE/>' end, case when signed then 'ZGlnZXN0' end
       from given`,
      [
        JSON.stringify(cfes.map(({ document, signed = true }) => ({ document, signed }))),
        accountId,
        rut,
        environment,
        rut,
        environment,
        rut,
        rut,
      ],
    );
    await em.execute(
      `update cfe set status = given.status, rejection = given.rejection,
         settled_at = case when given.status in ('ACCEPTED', 'OBSERVED', 'REJECTED') then ?::timestamptz end
       from jsonb_to_recordset(?::jsonb) as given (type text, serie text, numero integer, status text, rejection jsonb)
       where cfe.rut = ? and cfe.environment = ? and cfe.type = given.type and cfe.serie = given.serie
         and cfe.numero = given.numero and given.status <> 'PENDING'`,
      [
        settledAt.toISOString(),
        JSON.stringify(
          cfes.map(({ document: { type, serie, numero }, status, codes }) => ({
            type,
            serie,
            numero,
            status,
            rejection: codes?.map((code) => ({ code, message: code, detail: null })) ?? null,
          })),
        ),
        rut,
        environment,
      ],
    );
  });
}
