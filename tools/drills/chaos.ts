import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runChaos } from './chaos/run.ts';

/**
 * `npm run test:chaos -- --cfes N --seed N`: the whole service under kills and lost answers, and the reckoning. Ends
 * with 0 when all is as it must be, 1 when something is not, 2 for arguments that cannot be read.
 */
const USAGE =
  'usage: npm run test:chaos -- [--cfes N] [--seed N]   (1 to 100000 CFEs, 300 unless told; any seed)';
const MOST_CFES = 100_000;
const MOST_SEED = 2 ** 32 - 1;

const { cfes, seed } = readArguments();
const wrong = await runChaos({ cfes, seed, say: (line) => console.log(line) });
for (const line of wrong) console.log(`WRONG: ${line}`);
const again = `npm run test:chaos -- --cfes ${cfes} --seed ${seed}`;
console.log(wrong.length === 0 ? `chaos: all is there exactly once (${again})` : `chaos: FAILED (${again})`);
process.exit(wrong.length === 0 ? 0 : 1);

function readArguments(): { cfes: number; seed: number } {
  try {
    const { values } = parseArgs({ options: { cfes: { type: 'string' }, seed: { type: 'string' } } });
    return {
      cfes: wholeNumber('--cfes', values.cfes ?? '300', 1, MOST_CFES),
      seed: wholeNumber('--seed', values.seed ?? String(randomInt(1_000_000)), 0, MOST_SEED),
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(2);
  }
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new Error(`${name} holds "${text}"; it must be a whole number from ${least} to ${most}.`);
}
