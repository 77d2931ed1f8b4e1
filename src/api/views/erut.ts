import * as z from 'zod';
import type { RegistryRecord } from '../../domain/registryRecord.ts';

const Text = z.string().nullable();

/** The eRUT record of the API (docs/authority/registry.md#record); what the registry does not tell is null. */
export const ErutView = z
  .object({
    rut: z.string(),
    legal_name: Text,
    trade_name: Text,
    entity_type_code: Text,
    entity_type_description: Text,
    activity_status: Text.meta({
      description:
        'AA active, AF active from a later day, CC cancelled, CH cancelled today, NT never had activity',
    }),
    start_date: Text.meta({ description: 'YYYY-MM-DD' }),
    business_activities: z.array(z.object({ activity_code: Text, activity_name: Text, start_date: Text })),
    fiscal_addresses: z.array(
      z.object({ branch: z.int().nullable(), locality_name: Text, street_name: Text }),
    ),
  })
  .meta({ id: 'Erut' });

/** The eRUT record as the registry tells it. */
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
