import { readFileSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../../..');
const seconds = JSON.parse(readFileSync(resolve(ROOT, 'test/seconds.json'), 'utf8'));

/** Jest's sequencer: the slowest files of the last recording first, so that none of them runs alone at the end. */
export default class SlowestFirst {
  sort(tests) {
    const cost = new Map(tests.map((one) => [one, costOf(one.path)]));
    return [...tests].sort((a, b) => cost.get(b) - cost.get(a));
  }

  shard(tests, { shardIndex, shardCount }) {
    return tests.filter((_, index) => index % shardCount === shardIndex - 1);
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}

/** A file that is not recorded counts by its size: 1 s for 3 kB. */
function costOf(path) {
  return seconds[relative(ROOT, path)] ?? statSync(path).size / 3_000;
}
