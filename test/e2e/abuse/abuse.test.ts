import { afterAll, describe, expect, test } from '@jest/globals';
import { type Ground, MOST_MILLISECONDS, openGround, underAttack, worstOf } from '../../support/abuse.ts';
import { sharedStack } from '../../support/stacks.ts';
import { useStack } from '../../support/useStack.ts';
import { COST_OF_INPUT } from './costOfInput.ts';
import { FLOOD_SETTINGS, FLOODS } from './floods.ts';
import { GUESSING } from './guessing.ts';
import { PRINTS } from './prints.ts';

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
];

describe('whatever one caller sends, another is served', () => {
  let ground: Ground;
  useStack(sharedStack, async (stack) => {
    ground = await openGround(stack, FLOOD_SETTINGS);
  });
  afterAll(() => ground?.close());

  test.each(ATTACKS.map((attack) => [attack.name, attack] as const))('%s', async (name, attack) => {
    const fared = await underAttack(ground, attack);

    const { statuses, probes } = fared;
    process.stdout.write(
      `abuse: ${name}: ${probes.length} calls of another, ${worstOf(fared)} ms at worst\n`,
    );
    expect(new Set(statuses)).toEqual(new Set(attack.answers));
    expect(probes.map(({ status }) => status).filter((status) => ![200, 201].includes(status))).toEqual([]);
    expect(worstOf(fared)).toBeLessThan(MOST_MILLISECONDS);
  });
});
