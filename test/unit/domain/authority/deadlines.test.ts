import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readConfig } from '../../../../src/config.ts';
import { DEADLINES as D } from '../../../../src/domain/authority/deadlines.ts';
import { NEAR_MILLISECONDS } from '../../../../src/gate/gate.ts';

const config = readConfig(['CFE_DGI_ANSWER_SECONDS', 'CFE_DGI_CONNECT_SECONDS'], {});
const call = config.CFE_DGI_ANSWER_SECONDS * 1_000;

test.each<[string, shorter: number, longer: number]>([
  ['two heartbeats may be lost', 3 * D.heartbeatEvery, D.heartbeatTimeout],
  ['connecting is part of a call', config.CFE_DGI_CONNECT_SECONDS * 1_000, call],
  ['an attempt holds its slot and two calls', NEAR_MILLISECONDS + 2 * call, D.authorityAttempt],
  ['a send leaves within its attempt, and has its answer', D.sendLeaves + call, D.authorityAttempt],
  ['a slot is given anew only when no attempt can use it', D.authorityAttempt, D.slotUnused],
  ['an abandonment is not stored while a send may leave and be listed', D.sendLeaves + call, D.listLag],
  ['an attempt that was thought lost is over before an abandonment', D.authorityAttempt, D.listLag],
  ['an act of support holds five calls', 5 * call, D.supportAttempt],
  ['the command line outlasts the act', D.supportAttempt, D.supportAnswer],
  ['an attempt holds the answer of the receiver', D.receiverAnswer + D.receiverBody, D.deliveryAttempt],
  ['the worker cuts off after the grace', D.workerGrace, D.workerCut],
  ['it closes the rest before it is gone', D.workerCut, D.processGone],
  ['it is gone before it is killed', D.processGone, D.supervisorKills],
  ['a cut worker is not missed sooner than it is gone', D.heartbeatTimeout, D.workerGrace],
])('%s', (_, shorter, longer) => {
  expect(shorter).toBeLessThan(longer);
});

test('the composed production gives every program the time that it counts on', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docker-compose.temporal.yml'), 'utf8');
  const graces = [...text.matchAll(/stop_grace_period: (\d+)s/g)].map(
    ([, seconds]) => Number(seconds) * 1_000,
  );
  expect(graces.length).toBeGreaterThan(0);
  expect(Math.min(...graces)).toBeGreaterThanOrEqual(D.supervisorKills);
});
