import * as z from 'zod';
import type { RegistryRecord } from '../../domain/enterprises/registryRecord.ts';
import { describeField, ENTERPRISE_WORDS } from '../../domain/requests/fieldWords.ts';

/** A text of the registry, or null. */
const registryText = (description: string, ...examples: string[]) =>
  z
    .string()
    .nullable()
    .meta({ description: `${description} null: not given.`, examples });

/** The eRUT record of the API (docs/authority/services.md#erut-record); null for facts missing in the registry. */
export const ErutView = z
  .object({
    rut: z.string().meta(describeField(ENTERPRISE_WORDS.rut)),
    legal_name: registryText('Legal name in the registry.', 'COMERCIAL EJEMPLO S.A.'),
    trade_name: registryText('Trade name in the registry.', 'EJEMPLO'),
    entity_type_code: registryText('Code of the kind of company.', '30'),
    entity_type_description: registryText('Kind of company, in words.', 'SOCIEDAD ANONIMA'),
    activity_status: registryText(
      'AA active, AF active from a later day, CC cancelled, CH cancelled today, NT never had activity.',
      'AA',
    ),
    start_date: registryText('Day on which its activity began, YYYY-MM-DD.', '2010-03-01'),
    business_activities: z
      .array(
        z
          .object({
            activity_code: registryText('Code of the activity.', '47110'),
            activity_name: registryText('The activity, in words.', 'Comercio al por menor'),
            start_date: registryText('Day on which it began, YYYY-MM-DD.', '2010-03-01'),
          })
          .meta({ id: 'ErutActivity', description: 'One activity of the company.' }),
      )
      .meta({ description: 'What the company does.' }),
    fiscal_addresses: z
      .array(
        z
          .object({
            branch: z
              .int()
              .nullable()
              .meta({ description: 'Code of the branch; null: not given.', examples: [1] }),
            locality_name: registryText('Town.', 'MONTEVIDEO'),
            street_name: registryText('Street and number.', 'RINCON 500'),
          })
          .meta({ id: 'ErutAddress', description: 'One fiscal address of the company.' }),
      )
      .meta({ description: 'Where the company is.' }),
  })
  .meta({
    id: 'Erut',
    description:
      'A company’s record in the tax authority’s registry. Source: the authority’s registry service (eRUT).',
  });

/** Returns the eRUT record of a registry record. */
export function erutView(record: RegistryRecord): z.input<typeof ErutView> {
  return {
    rut: record.rut,
    legal_name: record.legalName,
    trade_name: record.tradeName,
    entity_type_code: record.entityTypeCode,
    entity_type_description: record.entityTypeDescription,
    activity_status: record.activityStatus,
    start_date: record.startDate,
    business_activities: record.businessActivities.map(({ activityCode, activityName, startDate }) => ({
      activity_code: activityCode,
      activity_name: activityName,
      start_date: startDate,
    })),
    fiscal_addresses: record.fiscalAddresses.map(({ branch, localityName, streetName }) => ({
      branch,
      locality_name: localityName,
      street_name: streetName,
    })),
  };
}
