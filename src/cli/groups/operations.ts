import * as z from 'zod';
import { requeue } from '../../commands/requeue.ts';
import { rotateKeyEncryption } from '../../commands/rotateKeyEncryption.ts';
import { skipNumbers } from '../../commands/skipNumbers.ts';
import { countSealedByKey, countSecretsByPepper, SEALED_COLUMNS } from '../../db/sealed.ts';
import { CFE_TYPE_NAMES } from '../../domain/cfeTypes.ts';
import { LAST_NUMBER } from '../../domain/parseSearch.ts';
import { count, DryRun, InEnvironment, OfRut, onlyRut, Reason } from '../inputs.ts';
import { act, group, query, type Row } from '../verb.ts';

const nameOf = ({ table, column }: { table: string; column: string }): string => `${table}.${column}`;

export const keyEncryption = group('key-encryption', 'Keys that seal secrets at rest', {
  status: query({
    summary: 'Show how many secrets are sealed by each key-encryption key',
    async run({ orm, opener }) {
      const em = orm.em.fork();
      const { keyIds } = opener();
      const counts = new Map<string, Record<string, number>>(keyIds.map((id) => [id, {}]));
      for (const column of SEALED_COLUMNS) {
        for (const { key_id, count: sealed } of await countSealedByKey(em, column)) {
          counts.set(key_id, { ...counts.get(key_id), [nameOf(column)]: sealed });
        }
      }
      return [...counts].map(([key_id, byColumn]): Row => {
        const seals = key_id === keyIds[0];
        const configured = keyIds.includes(key_id);
        const columns = SEALED_COLUMNS.map(nameOf);
        const each = Object.fromEntries(columns.map((name) => [name, byColumn[name] ?? 0]));
        const total = Object.values(byColumn).reduce((sum, sealed) => sum + sealed, 0);
        return { key_id, seals, configured, ...each, total };
      });
    },
  }),
  rotate: act({
    summary: 'Reseal every secret with the first key in CFE_KEY_ENCRYPTION_KEYS; safe while the service runs',
    async run(deps) {
      const { keyId, resealed } = await rotateKeyEncryption({ ...deps, opener: deps.opener() });
      return { key_id: keyId, resealed };
    },
  }),
});

export const pepper = group('pepper', 'Peppers, under which API keys are hashed and second factors sealed', {
  status: query({
    summary: 'Show which accounts have API keys under which pepper, and how many second factors hang on each',
    run: async ({ orm }) => (await countSecretsByPepper(orm.em.fork())).map((row) => ({ ...row })),
  }),
});

/** After a database or Temporal was lost or restored (docs/backup.md). */
export const recovery = group(
  'recovery',
  'After a restore: start again what was under way, move numbering on',
  {
    requeue: act({
      summary: 'Start again everything that has not ended; what still runs is left alone',
      takes: { rut: onlyRut('only what belongs to this enterprise'), reason: Reason, dryRun: DryRun },
      examples: [
        '--dry-run --reason "look"',
        '--reason "Temporal begun anew"',
        '--rut 219999830019 --reason T',
      ],
      run: async (deps, { dryRun = false, ...input }) =>
        (await requeue(deps, { ...input, dryRun })).map((row) => ({ ...row })),
    }),
    'skip-numbers RUT CFE_TYPE': act({
      summary: 'Move numbering past numbers that the authority has, asking it about each; never back',
      takes: {
        rut: OfRut,
        cfe_type: z.enum(CFE_TYPE_NAMES).describe(`one of ${CFE_TYPE_NAMES.join(', ')}`),
        to: count(1, LAST_NUMBER).describe('last number to skip'),
        environment: InEnvironment,
        reason: Reason,
        dryRun: DryRun,
      },
      examples: [
        '219999830019 ETICKET --to 180 --dry-run --reason "look"',
        '219999830019 ETICKET --to 180 --reason "restored to 14:05"',
      ],
      async run(deps, { cfe_type: type, dryRun = false, ...input }) {
        const asking = { ...deps, askAuthority: deps.askAuthority() };
        return (await skipNumbers(asking, { ...input, type, dryRun })).map((row) => ({ ...row }));
      },
    }),
  },
);
