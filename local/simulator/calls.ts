import type { EnvironmentName } from './environments.ts';

/** How often an operation was called: while the authority was there, and while it was away. */
export interface CallCount {
  readonly environment: EnvironmentName;
  readonly operation: string;
  readonly answered: number;
  readonly refused: number;
}

/** Counts the SOAP calls that this process was sent. */
export interface Calls {
  count(
    call: { readonly environment: EnvironmentName; readonly operation: string },
    how: 'answered' | 'refused',
  ): void;
  /** By operation, in order of the first call. */
  all(): CallCount[];
}

/** No calls yet. */
export function openCalls(): Calls {
  const counts = new Map<string, CallCount>();
  return {
    count({ environment, operation }, how) {
      const key = `${environment} ${operation}`;
      const so = counts.get(key) ?? { environment, operation, answered: 0, refused: 0 };
      counts.set(key, { ...so, [how]: so[how] + 1 });
    },
    all: () => [...counts.values()],
  };
}
