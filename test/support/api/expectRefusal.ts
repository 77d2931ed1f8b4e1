import { expect } from '@jest/globals';
import type { RefusalCode } from '../../../src/errors.ts';
import type { Answer } from './http.ts';

/** Expects an error answer of that status and code, and answers it. */
export function expectRefusal(answer: Answer, status: number, code: RefusalCode): Answer['error'] {
  expect({ status: answer.status, code: answer.error?.code, data: answer.data }).toEqual({
    status,
    code,
    data: undefined,
  });
  expect(answer.headers.get('x-request-id')).toBeTruthy();
  return answer.error;
}

/** Expects 400 INVALID_INPUT with exactly these faults, each as `[pointer, code, message]`, in any order. */
export function expectFaults(answer: Answer, faults: [string, string, string | RegExp][]): void {
  const error = expectRefusal(answer, 400, 'INVALID_INPUT');
  const byPlace = (a: { path: string; code: string }, b: { path: string; code: string }): number =>
    `${a.path} ${a.code}`.localeCompare(`${b.path} ${b.code}`);
  const expected = faults.map(([path, code, message]) => ({
    path,
    code,
    message: typeof message === 'string' ? message : expect.stringMatching(message),
    docs: `https://cfe.example/v1/docs/refused#${code}`,
  }));
  expect((error.details?.fields ?? []).toSorted(byPlace)).toEqual(expected.toSorted(byPlace));
}
