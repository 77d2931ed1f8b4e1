import { listAuditPage } from '../../db/operations/auditPage.ts';
import { personOf } from '../../domain/operations/audit.ts';
import { CfeId } from '../../domain/receipts/cfeId.ts';
import { AUDIT_FILTERS, auditSearchOf } from '../../lists/audit.ts';
import {
  EnvironmentInput,
  filterOptions,
  limitOption,
  optionalInput,
  requireCfeOfRut,
  wholeNumberInput,
} from '../inputs.ts';
import { readVerb, verbGroup } from '../verb.ts';

export const auditGroup = verbGroup('audit', 'Who did what, to what and when', {
  list: readVerb({
    summary: 'List who did what, to what and when: the last entries, oldest first',
    takes: {
      ...filterOptions(AUDIT_FILTERS),
      cfe: optionalInput(CfeId, 'only entries about this CFE of the enterprise in --rut', 'cfe_id'),
      environment: EnvironmentInput.describe('of that CFE; default: production'),
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
    async run({ orm }, { limit: most, cfe: cfe_id, environment, before, ...filter }) {
      const em = orm.em.fork();
      const subject =
        cfe_id === undefined
          ? filter.subject
          : (await requireCfeOfRut(em, { ...filter, cfe_id, environment })).id;
      const page = { after: before === undefined ? null : [String(before)], limit: most };
      const newestFirst = await listAuditPage(em, auditSearchOf({ ...filter, subject }), page);
      return newestFirst.toReversed().map((entry) => ({
        audit_id: entry.id,
        at: entry.at.toISOString(),
        actor: entry.actor,
        person: personOf(entry.actor),
        key_id: entry.keyId,
        address: entry.address,
        action: entry.action,
        subject: entry.subject,
        account_id: entry.accountId,
        rut: entry.rut,
        reason: entry.reason,
        outcome: entry.outcome,
        request_id: entry.requestId,
        verified: entry.actor !== 'unverified',
      }));
    },
  }),
});
