import * as z from 'zod';
import { listAudit } from '../../db/audit.ts';
import { Rut } from '../../domain/rut.ts';
import { defineVerb, type Group } from '../verb.ts';

const Moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);
const Since = z
  .string()
  .refine((text) => Moment.safeParse(text).success, {
    params: { expected: 'a date or a date and time, such as 2026-11-20 or 2026-11-20T15:00:00Z' },
  })
  .transform((text) => new Date(text));

const list = defineVerb({
  name: 'list',
  summary: 'List who did what, to what and when, oldest first',
  options: [
    { flags: '--rut <rut>', about: 'only entries about this enterprise' },
    {
      flags: '--since <time>',
      about: 'only entries from then on, such as 2026-11-20 or 2026-11-20T15:00:00Z',
    },
  ],
  examples: ['--since 2026-11-20', '--rut 219999830019 --json'],
  input: z.strictObject({
    rut: Rut.optional(),
    since: Since.optional(),
  }),
  async run({ orm }, filter) {
    return (await listAudit(orm.em.fork(), filter)).map((entry) => ({
      at: entry.at.toISOString(),
      actor: entry.actor,
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
