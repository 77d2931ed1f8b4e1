import type { EventEmitter } from 'node:events';

/** A connection of pg's pool while it is in use. */
interface HeldConnection extends EventEmitter {
  release(destroy?: boolean): void;
}

/**
 * Gives connections back to their pool that die while a transaction holds them: Kysely does so only after a `commit` or
 * `rollback` that succeeded, which a dead connection never lets through (nor `begin`). Without this every restart of
 * the database would cost the pool as many places as transactions were under way, for good.
 */
export function giveBackTheDead(pool: EventEmitter): void {
  const held = new WeakSet<HeldConnection>();
  pool.on('acquire', (connection: HeldConnection) => held.add(connection));
  pool.on('release', (_error: unknown, connection: HeldConnection) => held.delete(connection));
  pool.on('connect', (connection: HeldConnection) => {
    connection.once('end', () => {
      if (!held.has(connection)) return;
      connection.release(true);
      // Whoever holds it may still give it back; the pool would throw at the second time.
      connection.release = () => undefined;
    });
  });
}
