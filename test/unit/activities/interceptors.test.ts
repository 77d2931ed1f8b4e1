import { describe, expect, test } from '@jest/globals';
import { ApplicationFailure, type Context } from '@temporalio/activity';
import { activityInterceptors } from '../../../src/activities/interceptors.ts';
import { asActivity } from '../../support/temporal/activityContext.ts';

describe('an attempt of an activity that fails', () => {
  const told: string[] = [];
  const [factory] = activityInterceptors((type) => told.push(type));
  const failing = (type: string, error: unknown): Promise<unknown> => {
    const { execute } = factory?.({ info: { activityType: type } } as Context).inbound ?? {};
    return asActivity(async () =>
      execute?.({ args: [], headers: {} }, () => Promise.reject(error)).catch((failure: unknown) => failure),
    );
  };

  test.each(['prepareReport', 'attemptMail', 'supportCfe'])(
    'because of a bug is counted by its type, %s, and its text stays out of the history',
    async (type) => {
      told.length = 0;
      const failure = await failing(type, new TypeError('"Ana" has no length'));

      expect(told).toEqual([type]);
      expect((failure as Error).message).not.toContain('Ana');
    },
  );

  test.each([
    ['the authority is away', ApplicationFailure.create({ type: 'AuthorityUnreachable', message: 'away' })],
    ['the database is away', Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })],
  ])('because %s is not', async (_, error) => {
    told.length = 0;
    await failing('askReport', error);

    expect(told).toEqual([]);
  });
});
