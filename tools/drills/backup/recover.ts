/** What an operator does after a restore, before the service starts (docs/backup.md): by the command line. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { simulatorAddresses } from '../../../local/stack/programs.ts';
import { cliOn } from '../../../test/support/cli.ts';
import { asProgram } from '../../../test/support/database/database.ts';
import { startSimulatorProcess } from '../../../test/support/stacks.ts';

/** A number that was passed over. */
export interface Skipped {
  numero: number;
  at_authority: boolean;
}

/**
 * Moves the numbering of e-Tickets on to `last` and has begun anew what is under way; the authority answers meanwhile.
 * `stackDir` holds the keys of the service and the authority's own data. Answers the numbers that were passed over.
 */
export async function recover(of: {
  databaseUrl: string;
  stackDir: string;
  rut: string;
  last: number;
  say: (line: string) => void;
}): Promise<Skipped[]> {
  const { databaseUrl, stackDir, rut, last, say } = of;
  const authority = await startSimulatorProcess(stackDir);
  const secrets = JSON.parse(readFileSync(join(stackDir, 'secrets.json'), 'utf8')) as Record<string, string>;
  const cli = cliOn(asProgram(databaseUrl, 'operator'), {
    CFE_KEY_ENCRYPTION_KEYS: secrets['key_encryption_keys'],
    ...simulatorAddresses(authority.baseUrl),
  });
  const skipTo = (to: number): string[] => [
    'recovery',
    'skip-numbers',
    rut,
    'ETICKET',
    '--to',
    String(to),
    '--reason',
    'drill',
  ];
  try {
    const looked = await cli.json<Skipped[]>(...skipTo(last), '--dry-run');
    const skipped = await cli.json<Skipped[]>(...skipTo(last));
    assert.deepEqual(skipped, looked);
    const held = skipped.filter(({ at_authority }) => at_authority).length;
    say(`Numbering moved on by ${skipped.length}: ${held} of them at the authority.`);

    const requeue = ['recovery', 'requeue', '--reason', 'drill'];
    const begun = await cli.json<{ workflow: string; unfinished: number }[]>(...requeue);
    say(`Begun anew: ${begun.map(({ workflow, unfinished }) => `${unfinished} ${workflow}`).join(', ')}.`);
    return skipped;
  } finally {
    await authority.stop();
    // Without the authority's word nothing is passed over.
    const { code } = await cli.refusal(...skipTo(last + 1));
    assert.equal(code, 'UNAVAILABLE');
  }
}
