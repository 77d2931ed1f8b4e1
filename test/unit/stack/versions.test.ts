import { describe, expect, test } from '@jest/globals';
import { judgeTemporalVersion } from '../../../local/stack/temporal/temporalRelease.ts';
import { isAtLeast, versionIn } from '../../../local/stack/temporal/versions.ts';

describe('versions', () => {
  test.each([
    ['go version go1.26.8 linux/amd64', [1, 26, 8]],
    ['go version go1.27 darwin/arm64', [1, 27, 0]],
    ['v24.21.0', [24, 21, 0]],
    ['none here', undefined],
  ])('%s holds %j', (text, version) => {
    expect(versionIn(text)).toEqual(version);
  });

  test.each([
    [[1, 26, 4], [1, 26, 4], true],
    [[1, 26, 10], [1, 26, 4], true],
    [[1, 26, 3], [1, 26, 4], false],
    [[2, 0, 0], [1, 26, 4], true],
    [[1, 9, 0], [1, 26], false],
    [undefined, [1], false],
  ])('%j is at least %j: %s', (version, least, holds) => {
    expect(isAtLeast(version, least)).toBe(holds);
  });

  test.each([
    ['temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)', true],
    ['temporal version 1.10.0 (Server 1.32.0, UI 2.51.0)', true],
    ['temporal version 1.8.1 (Server 1.31.1, UI 2.50.0)', false],
    ['temporal version 0.0.0-DEV (Server 1.31.2, UI 2.50.1)', true],
    ['temporal version 0.0.0-DEV (Server 1.30.0, UI 2.40.0)', false],
    ['something else', false],
  ])('"%s" is new enough: %s', (printed, newEnough) => {
    expect(judgeTemporalVersion(`${printed}\n`)).toEqual({ said: printed, newEnough });
  });
});
