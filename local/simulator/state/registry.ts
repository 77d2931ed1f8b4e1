import type { State } from './database.ts';

/**
 * What the registry tells of a RUT (docs/authority/services.md#erut-record), or the fault it answers with. Dates are
 * `YYYY-MM-DD`.
 */
export interface RegistryRecord {
  readonly legal_name: string;
  readonly trade_name: string | null;
  readonly entity_type_code: string | null;
  readonly entity_type_description: string | null;
  /** AA active, AF active in the future, CC cancelled, CH cancelled today, NT never had. */
  readonly activity_status: string;
  readonly start_date: string | null;
  readonly business_activities: readonly {
    activity_code: string;
    activity_name: string;
    start_date: string | null;
  }[];
  readonly fiscal_addresses: readonly {
    branch: number;
    locality_name: string | null;
    street_name: string | null;
  }[];
  /** The code of the fault that is answered instead of the record. */
  readonly fault: number | null;
}

/**
 * RUTs for which the authority's own test service has data (docs/authority/services.md#erut-test-service); known here
 * from the start.
 */
const TEST_RUTS = [
  '219000090011',
  '219999820013',
  '219999830019',
  '211428940011',
  '210475730011',
  '210465050018',
  '210154140015',
  '210094030014',
];

const testRecord = (rut: string): RegistryRecord => ({
  legal_name: `EMPRESA DE PRUEBA ${rut}`,
  trade_name: null,
  entity_type_code: '6',
  entity_type_description: 'SOCIEDAD COLECTIVA',
  activity_status: 'AA',
  start_date: '2006-09-27',
  business_activities: [
    { activity_code: '1132', activity_name: 'Cultivos de hortalizas', start_date: '2013-04-02' },
  ],
  fiscal_addresses: [{ branch: 1, locality_name: 'MONTEVIDEO', street_name: 'AVDA. DE PRUEBA 1' }],
  fault: null,
});

/** What the registry has of a RUT; undefined when it does not know it. */
export function findRecord(state: State, rut: string): RegistryRecord | undefined {
  const row = state.prepare('select record from registry where rut = ?').get(rut);
  if (row) return JSON.parse(String(row['record'])) as RegistryRecord;
  return TEST_RUTS.includes(rut) ? testRecord(rut) : undefined;
}

/** Puts what the registry tells of a RUT, in place of what it told before. */
export const putRecord = (state: State, rut: string, record: RegistryRecord): void => {
  state
    .prepare('insert into registry values (?, ?) on conflict do update set record = excluded.record')
    .run(rut, JSON.stringify(record));
};
