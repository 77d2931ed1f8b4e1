import { describe, expect, test } from '@jest/globals';
import { createReading } from '../../../src/metrics/reading.ts';

describe('what a scrape reads from the database', () => {
  /** A reading of a clock that the test moves, of answers that the test gives. */
  function aReading({ patienceMilliseconds = 60_000, keepMilliseconds = 5_000 } = {}) {
    let now = 0;
    const questions: PromiseWithResolvers<string>[] = [];
    const read = createReading({
      read: () => {
        const question = Promise.withResolvers<string>();
        questions.push(question);
        return question.promise;
      },
      keepMilliseconds,
      patienceMilliseconds,
      clock: () => now,
    });
    return { read, questions, pass: (milliseconds: number) => (now += milliseconds) };
  }

  test('all who scrape at a time share one question, and its answer for a while', async () => {
    const { read, questions, pass } = aReading();

    const both = [read(), read()];
    questions[0]?.resolve('first');

    expect(await Promise.all(both)).toEqual(['first', 'first']);
    pass(4_999);
    expect(await read()).toBe('first');
    expect(questions).toHaveLength(1);
    pass(1);
    const later = read();
    questions[1]?.resolve('second');
    expect(await later).toBe('second');
  });

  test('a failure is no answer, and is not asked about again at once', async () => {
    const { read, questions, pass } = aReading();

    const failed = read();
    questions[0]?.reject(new Error('away'));

    expect(await failed).toBeUndefined();
    expect(await read()).toBeUndefined();
    expect(questions).toHaveLength(1);
    pass(5_000);
    const later = read();
    questions[1]?.resolve('back');
    expect(await later).toBe('back');
  });

  test('what is read once an hour is asked for again five minutes after a failure', async () => {
    const { read, questions, pass } = aReading({ keepMilliseconds: 3_600_000 });

    const failed = read();
    questions[0]?.reject(new Error('away'));
    expect(await failed).toBeUndefined();
    pass(299_999);
    expect(await read()).toBeUndefined();
    pass(1);
    const later = read();
    questions[1]?.resolve('back');
    expect(await later).toBe('back');
    pass(3_599_999);
    expect(await read()).toBe('back');
    expect(questions).toHaveLength(2);
  });

  test('an open question is waited for no longer than the patience, and never asked twice', async () => {
    const { read, questions, pass } = aReading({ patienceMilliseconds: 10 });

    expect(await read()).toBeUndefined();
    pass(600_000);
    expect(await read()).toBeUndefined();
    expect(questions).toHaveLength(1);

    questions[0]?.resolve('at last');
    expect(await read()).toBe('at last');
  });
});
