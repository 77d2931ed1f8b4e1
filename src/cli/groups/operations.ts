import * as z from 'zod';
import { skipNumbers } from '../../commands/numbers/skipNumbers.ts';
import { requeue } from '../../commands/operations/requeue.ts';
import { rotateKeyEncryption } from '../../commands/operations/rotateKeyEncryption.ts';
import { countSealedByKey, countSecretsByPepper, SEALED_COLUMNS } from '../../db/operations/sealed.ts';
import { LAST_NUMBER } from '../../domain/operations/parseSearch.ts';
import { CFE_TYPE_NAMES } from '../../domain/receipts/cfeTypes.ts';
import {
  DryRunOption,
  EnvironmentInput,
  ReasonInput,
  RutInput,
  rutFilter,
  wholeNumberInput,
} from '../inputs.ts';
import { actingVerb, type OutputRow, readVerb, verbGroup } from '../verb.ts';

const nameOf = ({ table, column }: { table: string; column: string }): string => `${table}.${column}`;

export const keyEncryptionGroup = verbGroup('key-encryption', 'Keys that encrypt secrets at rest', {
  status: readVerb({
    summary: 'Show how many secrets are encrypted under each key-encryption key',
    async run({ orm, opener }) {
      const em = orm.em.fork();
      const { keyIds } = opener();
      const counts = new Map<string, Record<string, number>>(keyIds.map((id) => [id, {}]));
      for (const column of SEALED_COLUMNS) {
        for (const { key_id, count: sealed } of await countSealedByKey(em, column)) {
          counts.set(key_id, { ...counts.get(key_id), [nameOf(column)]: sealed });
        }
      }
      return [...counts].map(([key_id, byColumn]): OutputRow => {
        const seals = key_id === keyIds[0];
        const configured = keyIds.includes(key_id);
        const columns = SEALED_COLUMNS.map(nameOf);
        const each = Object.fromEntries(columns.map((name) => [name, byColumn[name] ?? 0]));
        const total = Object.values(byColumn).reduce((sum, sealed) => sum + sealed, 0);
        return { key_id, seals, configured, ...each, total };
      });
    },
  }),
  rotate: actingVerb({
    summary:
      'Re-encrypt every secret with the first key in CFE_KEY_ENCRYPTION_KEYS; safe while the service runs',
    async run(deps) {
      const { keyId, resealed } = await rotateKeyEncryption({ ...deps, opener: deps.opener() });
      return { key_id: keyId, resealed };
    },
  }),
});

export const pepperGroup = verbGroup(
  'pepper',
  'Peppers, under which API keys are hashed and second factors encrypted',
  {
    status: readVerb({
      summary: 'Show the accounts with API keys, and the number of second factors, under each pepper',
      run: async ({ orm }) => (await countSecretsByPepper(orm.em.fork())).map((row) => ({ ...row })),
    }),
  },
);

/** Verbs for use after a loss or restore of the database or Temporal (docs/backup.md). */
export const recoveryGroup = verbGroup(
  'recovery',
  'After a restore: restart workflows, move numbering forward',
  {
    requeue: actingVerb({
      summary: 'Restart everything unfinished; running workflows are left alone',
      takes: {
        rut: rutFilter('only what belongs to this enterprise'),
        reason: ReasonInput,
        dryRun: DryRunOption,
      },
      examples: [
        '--dry-run --reason "look"',
        '--reason "Temporal data lost"',
        '--rut 219999830019 --reason T',
      ],
      run: async (deps, { dryRun = false, ...input }) =>
        (await requeue(deps, { ...input, dryRun })).map((row) => ({ ...row })),
    }),
    'skip-numbers RUT CFE_TYPE': actingVerb({
      summary:
        'Move numbering past numbers that the authority already has, querying it about each; never back',
      takes: {
        rut: RutInput,
        cfe_type: z.enum(CFE_TYPE_NAMES).describe(`one of ${CFE_TYPE_NAMES.join(', ')}`),
        to: wholeNumberInput(1, LAST_NUMBER).describe('last number to skip'),
        environment: EnvironmentInput,
        reason: ReasonInput,
        dryRun: DryRunOption,
      },
      examples: [
        '219999830019 ETICKET --to 180 --dry-run --reason "look"',
        '219999830019 ETICKET --to 180 --reason "restored to 14:05"',
      ],
      async run(deps, { cfe_type: type, dryRun = false, ...input }) {
        const skipDeps = { ...deps, askAuthority: deps.askAuthority() };
        return (await skipNumbers(skipDeps, { ...input, type, dryRun })).map((row) => ({ ...row }));
      },
    }),
  },
);
