import { describe, expect, test } from '@jest/globals';
import { startRun } from '../../src/commands/startRun.ts';
import { findRun } from '../../src/db/runs.ts';
import { DEMO_RUT as RUT } from '../../src/demo/onboarding.ts';
import { idleOutbox } from '../support/commandDeps.ts';
import { startTestStack } from '../support/stacks.ts';
import { giveStuckCfes, renewCertificate, stuckOf } from '../support/stuckCfes.ts';
import { until } from '../support/until.ts';
import { useStack } from '../support/useStack.ts';

const COUNT = 300;
/** The worker is killed once so many are done. */
const KILLED_AT = 60;

describe('a bulk run on the whole stack', () => {
  const stack = useStack(startTestStack, ({ onboard }) => onboard([101]));
  const rows = <T extends object>(sql: string, values: unknown[] = []): Promise<T[]> =>
    stack.orm.em.fork().execute<T[]>(sql, values);

  test('300 CFEs that were stuck for a lost key go on by one run, each once, though the worker is killed in the middle', async () => {
    await giveStuckCfes(stack, RUT, COUNT);
    await renewCertificate(stack, RUT);
    const deps = { orm: stack.orm, clock: () => new Date(), outbox: idleOutbox, actor: 'cli:ana' } as const;
    const filter = { stuckReason: 'signing', rut: RUT } as const;

    const run = await startRun(deps, { kind: 'retry', filter, reason: 'certificado renovado', seen: null });
    expect(run.total).toBe(COUNT);
    const now = async () => (await findRun(stack.orm.em.fork(), run.id, null)) ?? run;
    await until('the run to be in its middle', 300, async () => (await now()).done >= KILLED_AT);
    const killed = stack.info().pids.worker ?? 0;
    expect(killed).toBeGreaterThan(0);
    process.kill(killed, 'SIGKILL');

    const ended = await until('the end of the run', 600, async () => {
      const found = await now();
      return found.state === 'RUNNING' ? undefined : found;
    });
    expect(stack.info().pids.worker).not.toBe(killed);
    expect(ended).toMatchObject({ state: 'DONE', total: COUNT, done: COUNT, unneeded: 0, refused: 0 });
    expect(await stackRows()).toEqual({
      acts: COUNT,
      cfes: COUNT,
      reasons: [`certificado renovado (${run.id})`],
    });
    expect(await stuckOf(stack, RUT)).toBe(0);
    await until('every verdict', 600, async () => {
      const [row] = await rows<{ n: number }>(
        `select count(*)::int as n from cfe where rut = ? and status = 'ACCEPTED'`,
        [RUT],
      );
      return row?.n === COUNT;
    });
    const ledger = await stack.ledger(RUT);
    expect(ledger).toHaveLength(COUNT);
    expect(ledger.filter(({ times_received }) => times_received !== 1)).toEqual([]);
    expect(await stack.cli.json('run', 'show', run.id)).toMatchObject({
      state: 'DONE',
      done: COUNT,
      refusals: [],
      workflow_id: `run:${run.id}`,
    });
  });

  /** What the audit has of the acts of the run. */
  async function stackRows(): Promise<{ acts: number; cfes: number; reasons: string[] }> {
    const acts = await rows<{ subject: string; reason: string; actor: string }>(
      `select subject, reason, actor from audit where action = 'cfe.retry' and rut = ?`,
      [RUT],
    );
    expect(new Set(acts.map(({ actor }) => actor))).toEqual(new Set(['support:ana']));
    return {
      acts: acts.length,
      cfes: new Set(acts.map(({ subject }) => subject)).size,
      reasons: [...new Set(acts.map(({ reason }) => reason))],
    };
  }
});
