/** `T` without undefined values. */
type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the given conditions of an `em.find`: leaves out undefined ones. `whereAll` (db/sql.ts) does so in SQL. */
export const givenConditions = <T extends object>(conditions: T): Given<T> =>
  Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined)) as Given<T>;
