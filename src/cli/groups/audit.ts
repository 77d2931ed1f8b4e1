import { CfeId } from '../../domain/receipts/cfeId.ts';
import { AUDIT } from '../../lists/audit.ts';
import { EnvironmentInput, optionalInput, requireCfeOfRut } from '../inputs.ts';
import { listedRow, listVerb } from '../listVerb.ts';
import { verbGroup } from '../verb.ts';

export const auditGroup = verbGroup('audit', 'Who did what, to what and when', {
  list: listVerb(AUDIT, {
    summary: 'List who did what, to what and when: the last entries, oldest first',
    takes: {
      cfe: optionalInput(CfeId, 'only entries about this CFE of the enterprise in --rut', 'cfe_id'),
      environment: EnvironmentInput.describe('of that CFE; default: production'),
    },
    limit: [10_000, 1_000],
    examples: [
      '--since 2026-11-20',
      '--rut 219999830019 --json',
      '--rut 219999830019 --cfe 101-1',
      '--person ana --limit 50',
    ],
    columns: 'audit_id at actor action subject rut address reason outcome',
    usageFault({ rut, cfe, environment, subject }) {
      if (cfe === undefined) return environment === undefined ? undefined : '--environment needs --cfe';
      if (subject !== undefined) return 'give --subject or --cfe, not both';
      return rut === undefined ? '--cfe needs --rut' : undefined;
    },
    rows: async (_, entries) => entries.toReversed().map((entry) => listedRow(AUDIT, entry)),
    async search({ orm }, { cfe, environment, ...filter }) {
      if (cfe === undefined) return filter;
      const { id } = await requireCfeOfRut(orm.em.fork(), { ...filter, cfe_id: cfe, environment });
      return { ...filter, subject: id };
    },
  }),
});
