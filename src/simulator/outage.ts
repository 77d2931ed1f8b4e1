import type { Clock } from './clock.ts';
import type { State } from './state/database.ts';

const COUNTER = 'down_until_ms';

/** When the SOAP paths refuse: from a beginning (directive DOWN, or the portal) for so many seconds. */
export interface Outage {
  /** `seconds` 0 ends the one under way. */
  begin(seconds: number): void;
  isOn(): boolean;
  /** Counts a request that came while it is on. */
  countRefused(): void;
  /** How many requests were refused since the outage began, as far as this process knows. */
  readonly refused: number;
}

/** The outage; it outlasts a restart of the simulator. */
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
