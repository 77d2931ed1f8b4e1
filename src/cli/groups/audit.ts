import * as z from 'zod';
import { listAudit } from '../../db/audit.ts';
import { personOf } from '../../domain/audit.ts';
import { CfeId } from '../../domain/cfeId.ts';
import { ENVIRONMENTS } from '../../domain/cfeTypes.ts';
import { Rut } from '../../domain/rut.ts';
import { oneCfe } from '../oneCfe.ts';
import { Since } from '../since.ts';
import { defineVerb, type Group } from '../verb.ts';

const MOST = 10_000;
const USUAL = 1_000;

const list = defineVerb({
  name: 'list',
  summary: 'List who did what, to what and when: the last entries, oldest first',
  reads: true,
  options: [
    { flags: '--rut <rut>', about: 'only entries about this enterprise' },
    {
      flags: '--since <time>',
      about: 'only entries from then on: a day in Montevideo, such as 2026-11-20, or 2026-11-20T15:00:00Z',
    },
    { flags: '--subject <id>', about: 'only entries about this thing, such as an API key or a delivery' },
    { flags: '--cfe <cfe_id>', about: 'only entries about this CFE of the enterprise that --rut names' },
    {
      flags: '--environment <environment>',
      about: 'of that CFE; default: production',
      choices: ENVIRONMENTS,
    },
    { flags: '--person <name>', about: 'only what this person did, here or in the Temporal UI' },
    { flags: '--limit <n>', about: `at most this many; default: ${USUAL}`, wholeNumber: [1, MOST] },
    {
      flags: '--before <audit_id>',
      about: 'only entries before this one: the page before the one that begins with it',
      wholeNumber: [1, 999_999_999_999_999],
    },
  ],
  examples: [
    '--since 2026-11-20',
    '--rut 219999830019 --json',
    '--rut 219999830019 --cfe 101-1',
    '--person ana --limit 50',
  ],
  columns: ['audit_id', 'at', 'actor', 'action', 'subject', 'rut', 'address', 'reason', 'outcome'],
  input: z.strictObject({
    rut: Rut.optional(),
    since: Since.optional(),
    subject: z.string().optional(),
    cfe: CfeId.optional(),
    environment: z.enum(ENVIRONMENTS).optional(),
    person: z.string().optional(),
    limit: z.int().optional(),
    before: z.int().optional(),
  }),
  usageFault: ({ rut, cfe, environment, subject }) => {
    if (cfe === undefined) return environment === undefined ? undefined : '--environment goes with --cfe';
    if (subject !== undefined) return 'give --subject or --cfe';
    return rut === undefined ? '--cfe needs --rut' : undefined;
  },
  async run({ orm }, { limit = USUAL, cfe: cfe_id, environment = 'production', ...filter }) {
    const em = orm.em.fork();
    if (cfe_id !== undefined) filter.subject = (await oneCfe(em, { ...filter, cfe_id, environment })).id;
    return (await listAudit(em, filter, limit)).map((entry) => ({
      audit_id: entry.id.toString(),
      at: entry.at.toISOString(),
      actor: entry.actor,
      person: personOf(entry.actor),
      key_id: entry.keyId ?? null,
      address: entry.address ?? null,
      action: entry.action,
      subject: entry.subject,
      account_id: entry.accountId ?? null,
      rut: entry.rut ?? null,
      reason: entry.reason ?? null,
      outcome: entry.outcome ?? null,
    }));
  },
});

/** `cfe audit`: who did what, to what and when. */
export const audit: Group = { name: 'audit', summary: 'Who did what, to what and when', verbs: [list] };
