import type { State } from './state/database.ts';

const COUNTER = 'query_delay_seconds';

/** How long after it has received a sobre the authority asks to be left alone (Fechahora). */
export interface QueryDelay {
  readonly seconds: number;
  set(seconds: number): void;
}

/**
 * The wait for sobres that come from now on: `told`, or else what it was; 0 at first. It survives a restart of the
 * simulator.
 */
export function openQueryDelay(state: State, told?: number): QueryDelay {
  const row = state.prepare('select value from counters where name = ?').get(COUNTER);
  let seconds = Number(row?.['value'] ?? 0);
  const set = (wanted: number): void => {
    seconds = wanted;
    state
      .prepare('insert into counters values (?, ?) on conflict do update set value = excluded.value')
      .run(COUNTER, wanted);
  };
  if (told !== undefined) set(told);
  return {
    get seconds() {
      return seconds;
    },
    set,
  };
}
