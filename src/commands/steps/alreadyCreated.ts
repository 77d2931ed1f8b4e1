import { Refusal } from '../../errors.ts';

/**
 * Returns the refusal of a form sent twice (INVALID_INPUT): its secret was shown to the first request only.
 */
export function alreadyCreated(kind: string): Refusal {
  const message = `This ${kind} already exists; its secret was shown at creation and is not shown again.`;
  return new Refusal('INVALID_INPUT', message, {
    faults: [{ path: '', code: 'once.made_already', message }],
  });
}
