import type { Clock } from './clock.ts';
import type { State } from './state/database.ts';

const COUNTER = 'down_until_ms';

/** While it is on, the SOAP paths refuse everything. Directive DOWN or the portal begins it. */
export interface Outage {
  /** Replaces the one under way; 0 seconds ends it. */
  begin(seconds: number): void;
  isOn(): boolean;
  /** Counts a request that came while it is on. */
  countRefused(): void;
  /** Requests refused since it began, by this process. */
  readonly refused: number;
}

/** The outage; it survives a restart of the simulator. */
export function openOutage(state: State, clock: Clock): Outage {
  const row = state.prepare('select value from counters where name = ?').get(COUNTER);
  let until = Number(row?.['value'] ?? 0);
  let refused = 0;
  return {
    begin(seconds) {
      const now = clock().getTime();
      if (now >= until) refused = 0;
      until = now + seconds * 1000;
      state
        .prepare('insert into counters values (?, ?) on conflict do update set value = excluded.value')
        .run(COUNTER, until);
    },
    isOn: () => clock().getTime() < until,
    countRefused() {
      refused += 1;
    },
    get refused() {
      return refused;
    },
  };
}
