import * as z from 'zod';
import { listAudit } from '../../db/operations/audit.ts';
import { personOf } from '../../domain/operations/audit.ts';
import { CfeId } from '../../domain/receipts/cfeId.ts';
import {
  EnvironmentInput,
  limitOption,
  optionalInput,
  requireCfeOfRut,
  rutFilter,
  sinceOption,
  wholeNumberInput,
} from '../inputs.ts';
import { readVerb, verbGroup } from '../verb.ts';

export const auditGroup = verbGroup('audit', 'Who did what, to what and when', {
  list: readVerb({
    summary: 'List who did what, to what and when: the last entries, oldest first',
    takes: {
      rut: rutFilter('only entries about this enterprise'),
      since: sinceOption(
        'only entries from this time on: a day in Montevideo, such as 2026-11-20, or 2026-11-20T15:00:00Z',
      ),
      subject: optionalInput(
        z.string(),
        'only entries about this object, such as an API key or a delivery',
        'id',
      ),
      cfe: optionalInput(CfeId, 'only entries about this CFE of the enterprise in --rut', 'cfe_id'),
      environment: EnvironmentInput.describe('of that CFE; default: production'),
      person: optionalInput(z.string(), 'only what this person did, here or in the console', 'name'),
      limit: limitOption(10_000, 1_000),
      before: optionalInput(
        wholeNumberInput(1, 999_999_999_999_999),
        'only entries before this one: the previous page',
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
      if (cfe === undefined) return environment === undefined ? undefined : '--environment needs --cfe';
      if (subject !== undefined) return 'give --subject or --cfe, not both';
      return rut === undefined ? '--cfe needs --rut' : undefined;
    },
    async run({ orm }, { limit: most, cfe: cfe_id, environment, ...filter }) {
      const em = orm.em.fork();
      if (cfe_id !== undefined)
        filter.subject = (await requireCfeOfRut(em, { ...filter, cfe_id, environment })).id;
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
