import type { Clock } from './clock.ts';
import type { Outage } from './soap/endpoint.ts';
import type { State } from './state/database.ts';

const COUNTER = 'down_until_ms';

/** The outage ordered by directive DOWN; it outlasts a restart of the simulator. */
export function openOutage(state: State, clock: Clock): Outage {
  const row = state.prepare('select value from counters where name = ?').get(COUNTER);
  let until = Number(row?.['value'] ?? 0);
  return {
    begin(seconds) {
      until = clock().getTime() + seconds * 1000;
      state
        .prepare('insert into counters values (?, ?) on conflict do update set value = excluded.value')
        .run(COUNTER, until);
    },
    isOn: () => clock().getTime() < until,
  };
}
