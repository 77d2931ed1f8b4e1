import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import type { EnvironmentName } from './environments.ts';

/** Keeps SOAP requests and answers as files. */
export interface Exchanges {
  /** Writes a request and returns the function that writes its answer. */
  keep(
    call: { readonly environment: EnvironmentName; readonly operation: string },
    request: Uint8Array,
  ): (answer: string) => void;
}

/**
 * Exchanges under `folder`, one folder a day (UTC): `<time>-<n>-<environment>-<operation>-request.xml` and
 * `-answer.xml`, byte for byte as they went over the wire. Written before the answer leaves, so that nothing is lost
 * when the process is killed.
 */
export function openExchanges(folder: string, clock: Clock): Exchanges {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let day = '';
  let count = 0;
  return {
    keep({ environment, operation }, request) {
      const now = clock().toISOString();
      if (now.slice(0, 10) !== day) {
        day = now.slice(0, 10);
        mkdirSync(join(folder, day), { recursive: true, mode: 0o700 });
        count = readdirSync(join(folder, day)).length; // numbers go on after a restart
      }
      count += 1;
      const time = now.slice(11, 23).replace(/[:.]/g, '');
      const stem = join(folder, day, `${time}-${String(count).padStart(6, '0')}-${environment}-${operation}`);
      const options = { mode: 0o600, flag: 'wx' } as const;
      writeFileSync(`${stem}-request.xml`, request, options);
      return (answer) => writeFileSync(`${stem}-answer.xml`, answer, options);
    },
  };
}
