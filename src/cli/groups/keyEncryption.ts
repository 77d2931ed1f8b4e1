import * as z from 'zod';
import { rotateKeyEncryption } from '../../commands/rotateKeyEncryption.ts';
import { countSealed, SEALED_COLUMNS } from '../../db/sealed.ts';
import { defineVerb, type Group, type Row } from '../verb.ts';

const status = defineVerb({
  name: 'status',
  summary: 'Show how many secrets are sealed by each key-encryption key',
  reads: true,
  examples: ['', '--json'],
  input: z.strictObject({}),
  async run({ orm, opener }) {
    const em = orm.em.fork();
    const { keyIds } = opener();
    const counts = new Map<string, Record<string, number>>(keyIds.map((id) => [id, {}]));
    for (const column of SEALED_COLUMNS) {
      for (const { key_id, count } of await countSealed(em, column)) {
        counts.set(key_id, { ...counts.get(key_id), [nameOf(column)]: count });
      }
    }
    return [...counts].map(([key_id, byColumn]): Row => {
      const seals = key_id === keyIds[0];
      const configured = keyIds.includes(key_id);
      const each = Object.fromEntries(SEALED_COLUMNS.map(nameOf).map((name) => [name, byColumn[name] ?? 0]));
      const total = Object.values(byColumn).reduce((sum, count) => sum + count, 0);
      return { key_id, seals, configured, ...each, total };
    });
  },
});

const nameOf = ({ table, column }: { table: string; column: string }): string => `${table}.${column}`;

const rotate = defineVerb({
  name: 'rotate',
  summary: 'Reseal every secret with the first key in CFE_KEY_ENCRYPTION_KEYS; safe while the service runs',
  examples: ['', '--json'],
  input: z.strictObject({}),
  async run(deps) {
    const { keyId, resealed } = await rotateKeyEncryption({ ...deps, opener: deps.opener() });
    return { key_id: keyId, resealed };
  },
});

/** `cfe key-encryption`: the keys that seal secrets at rest, and the change from one to the next. */
export const keyEncryption: Group = {
  name: 'key-encryption',
  summary: 'Keys that seal secrets at rest',
  verbs: [status, rotate],
};
