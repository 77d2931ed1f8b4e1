import { spawnSync } from 'node:child_process';
import { testWith } from './simulator/tools.ts';

/** For tests that open zip files with Info-ZIP's unzip, which had no part in writing them; in CI they run, and fail, without it. */
export const testWithUnzip = testWith(spawnSync('unzip', ['-v']).error === undefined, 'unzip');
