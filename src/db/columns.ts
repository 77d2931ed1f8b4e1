/** Several entities from one select. Maps no relations, so that nothing is loaded implicitly. */
import type { EntityClass, EntityManager } from '@mikro-orm/postgresql';

/** A row with columns named `<alias>.<column>`. */
export type JoinedRow = Record<string, unknown>;

/** Returns the select list of an entity: all columns but lazy ones, except those in `lazy`. */
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

/** Returns the entity with the columns of this alias; null if an outer join found no row. */
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
