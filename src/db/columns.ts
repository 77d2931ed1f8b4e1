/** Several entities out of one select: no relations are mapped, so that nothing is ever loaded by the way. */
import type { EntityClass, EntityManager } from '@mikro-orm/postgresql';

/** A row with columns named `<alias>.<column>`. */
export type JoinedRow = Record<string, unknown>;

/** The columns of an entity, to be selected, without those that are lazy unless they are named. */
export function selectColumns<T extends object>(
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
export function readEntity<T extends { id: string }>(
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
