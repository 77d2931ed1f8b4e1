import { afterAll, describe, expect, test } from '@jest/globals';
import {
  type Ground,
  limitsOf,
  medianOf,
  openGround,
  underAttack,
  worstOf,
} from '../../support/api/abuse.ts';
import { startTestStack } from '../../support/stacks.ts';
import { useStack } from '../../support/useStack.ts';
import { CONSOLE } from './console.ts';
import { COST_OF_INPUT } from './costOfInput.ts';
import { EXPORTS } from './exports.ts';
import { FLOOD_SETTINGS, FLOODS } from './floods.ts';
import { GUESSING } from './guessing.ts';
import { MAILS } from './mails.ts';
import { PRINTS } from './prints.ts';
import { SQUATTING } from './squatting.ts';
import { WITHOUT_KEY } from './withoutKey.ts';

/** An attack is a row in a file beside this one. */
const ATTACKS = [
  {
    name: 'nothing but ordinary calls, for comparison',
    send: async ({ attacker: { client, rut } }: Ground) => (await client.get(`/enterprises/${rut}`)).status,
    answers: [200],
  },
  ...COST_OF_INPUT,
  ...GUESSING,
  ...FLOODS,
  ...PRINTS,
  ...EXPORTS,
  ...SQUATTING,
  ...MAILS,
  ...CONSOLE,
  ...WITHOUT_KEY,
];

describe('no request of one caller blocks another', () => {
  let ground: Ground;
  useStack(startTestStack, async (stack) => {
    ground = await openGround(stack, FLOOD_SETTINGS);
  });
  afterAll(() => ground?.close());

  test.each(ATTACKS.map((attack) => [attack.name, attack] as const))('%s', async (name, attack) => {
    const fared = await underAttack(ground, attack);

    const { statuses, probes } = fared;
    const worst = { GET: worstOf(fared, 'GET'), POST: worstOf(fared, 'POST') };
    const middle = medianOf(fared);
    process.stdout.write(
      `abuse: ${name}: ${probes.length} calls of another, GET ${middle} ms, at worst ${worst.GET} ms, POST ${worst.POST} ms; ${fared.slowness.toFixed(1)} times as slow as an idle machine\n`,
    );
    expect(new Set(statuses)).toEqual(new Set(attack.answers));
    const wanted = { GET: 200, POST: 201, probe: 200 };
    expect(probes.filter(({ kind, status }) => status !== wanted[kind])).toEqual([]);
    const reads = limitsOf(fared.slowness, 'GET');
    expect(middle).toBeLessThan(reads.median);
    expect(worst.GET).toBeLessThan(reads.worst);
    expect(worst.POST).toBeLessThan(limitsOf(fared.slowness, 'POST').worst);
  });
});
