import * as z from 'zod';
import { listAudit } from '../../db/audit.ts';
import { personOf } from '../../domain/audit.ts';
import { CfeId } from '../../domain/cfeId.ts';
import { count, InEnvironment, limit, oneCfe, onlyRut, optional, since } from '../inputs.ts';
import { group, query } from '../verb.ts';

export const audit = group('audit', 'Who did what, to what and when', {
  list: query({
    summary: 'List who did what, to what and when: the last entries, oldest first',
    takes: {
      rut: onlyRut('only entries about this enterprise'),
      since: since(
        'only entries from then on: a day in Montevideo, such as 2026-11-20, or 2026-11-20T15:00:00Z',
      ),
      subject: optional(z.string(), 'only entries about this thing, such as an API key or a delivery', 'id'),
      cfe: optional(CfeId, 'only entries about this CFE of the enterprise that --rut names', 'cfe_id'),
      environment: InEnvironment.describe('of that CFE; default: production'),
      person: optional(z.string(), 'only what this person did, here or in the console', 'name'),
      limit: limit(10_000, 1_000),
      before: optional(
        count(1, 999_999_999_999_999),
        'only entries before this one: the page before the one that begins with it',
        'audit_id',
      ),
    },
    examples: [
      '--since 2026-11-20',
      '--rut 219999830019 --json',
      '--rut 219999830019 --cfe 101-1',
      '--person ana --limit 50',
    ],
    columns: 'audit_id at actor action subject rut address reason outcome',
    usageFault: ({ rut, cfe, environment, subject }) => {
      if (cfe === undefined) return environment === undefined ? undefined : '--environment goes with --cfe';
      if (subject !== undefined) return 'give --subject or --cfe';
      return rut === undefined ? '--cfe needs --rut' : undefined;
    },
    async run({ orm }, { limit: most, cfe: cfe_id, environment, ...filter }) {
      const em = orm.em.fork();
      if (cfe_id !== undefined) filter.subject = (await oneCfe(em, { ...filter, cfe_id, environment })).id;
      return (await listAudit(em, filter, most)).map((entry) => ({
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
        request_id: entry.requestId ?? null,
        verified: entry.actor !== 'unverified',
      }));
    },
  }),
});
