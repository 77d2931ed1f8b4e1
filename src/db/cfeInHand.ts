import type { EntityClass, EntityManager } from '@mikro-orm/postgresql';
import { formatCfeId } from '../domain/cfeId.ts';
import type { CfeStatus } from '../domain/cfeStatus.ts';
import type { CfeType } from '../domain/cfeTypes.ts';
import { Sobre } from './entities/authority.ts';
import { Certificate } from './entities/enterprises.ts';
import { Cfe } from './entities/receipts.ts';

/** A CFE with what a step on its way may need. */
export interface CfeInHand {
  readonly cfe: Cfe;
  /** The certificate that is to sign it, or has. */
  readonly certificate: Certificate;
  /** The enterprise's current one, which signs requests; the CFE's own where none is current. */
  readonly current: Certificate;
  /** The sobre in which it is, or goes, to the authority; null when none was made yet or the last was refused. */
  readonly sobre: Sobre | null;
  /** The CFE that it corrects; null where it corrects none. */
  readonly original: { readonly cfeId: string; readonly status: CfeStatus } | null;
}

const KEY = ['sealedKey'] as const;

/** Takes a CFE in hand, by its UUID, in one statement. The sobre comes with its bytes where they are wanted. */
export async function cfeInHand(
  em: EntityManager,
  id: string,
  { withSobreXml = false } = {},
): Promise<CfeInHand> {
  const [row] = await em.execute<(JoinedRow & OriginalRow)[]>(
    `select ${columnsOf(em, Cfe, 'c')}, ${columnsOf(em, Certificate, 'own', KEY)}, ${columnsOf(em, Certificate, 'now', KEY)},
       ${columnsOf(em, Sobre, 's', withSobreXml ? ['xml'] : [])}, original.status as "original.status",
       original.type as "original.type", original.sequence as "original.sequence"
     from cfe c
     join certificate own on own.id = c.certificate_id
     left join certificate now on now.rut = c.rut and now.environment = c.environment
       and now.replaced_at is null and now.id <> own.id
     left join sobre s on s.cfe_uuid = c.id and s.state <> 'REFUSED'
     left join cfe original on original.id = c.reference_id
     where c.id = ?`,
    [id],
  );
  const cfe = row && entityIn(em, Cfe, 'c', row);
  const certificate = row && entityIn(em, Certificate, 'own', row);
  if (!cfe || !certificate) throw new Error(`CFE ${id} is not there`);
  return {
    cfe,
    certificate,
    current: entityIn(em, Certificate, 'now', row) ?? certificate,
    sobre: entityIn(em, Sobre, 's', row),
    original: originalIn(row),
  };
}

interface OriginalRow {
  'original.status': CfeStatus | null;
  'original.type': CfeType | null;
  'original.sequence': number | null;
}

function originalIn(row: OriginalRow): CfeInHand['original'] {
  const { 'original.status': status, 'original.type': type, 'original.sequence': sequence } = row;
  if (status === null || type === null || sequence === null) return null;
  return { cfeId: formatCfeId({ type, sequence }), status };
}

// Several entities out of one select: no relations are mapped, so that nothing is ever loaded by the way.

/** A row with columns named `<alias>.<column>`. */
export type JoinedRow = Record<string, unknown>;

/** The columns of an entity as `columnsOf` selects them, without those that are lazy unless they are named. */
function columnsOf<T extends object>(
  em: EntityManager,
  entity: EntityClass<T>,
  alias: string,
  lazy: readonly (keyof T & string)[] = [],
): string {
  const wanted = em
    .getMetadata(entity)
    .props.filter((prop) => !prop.lazy || lazy.includes(prop.name as never));
  return wanted
    .flatMap(({ fieldNames }) => fieldNames)
    .map((column) => `${alias}."${column}" as "${alias}.${column}"`)
    .join(', ');
}

/** The entity whose columns stand under the alias; null where an outer join found none. */
function entityIn<T extends { id: string }>(
  em: EntityManager,
  entity: EntityClass<T>,
  alias: string,
  row: JoinedRow,
): T | null {
  const columns = Object.entries(row).flatMap(([name, value]) =>
    name.startsWith(`${alias}.`) ? [[name.slice(alias.length + 1), value] as const] : [],
  );
  const values = Object.fromEntries(columns);
  return values['id'] === null ? null : em.map(entity, values as never);
}
