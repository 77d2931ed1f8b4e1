/** The registry's record of a RUT (docs/authority/services.md#erut-record); null for missing values. Dates are `YYYY-MM-DD`. */
export interface RegistryRecord {
  readonly rut: string;
  readonly legalName: string | null;
  readonly tradeName: string | null;
  readonly entityTypeCode: string | null;
  readonly entityTypeDescription: string | null;
  /** AA active, AF active in the future, CC cancelled, CH cancelled today, NT never had activity. */
  readonly activityStatus: string | null;
  readonly startDate: string | null;
  readonly businessActivities: readonly {
    readonly activityCode: string | null;
    readonly activityName: string | null;
    readonly startDate: string | null;
  }[];
  readonly fiscalAddresses: readonly {
    readonly branch: number | null;
    readonly localityName: string | null;
    readonly streetName: string | null;
  }[];
}
