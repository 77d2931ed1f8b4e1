import { Refusal } from '../../errors.ts';

/** Says that a form was sent twice (INVALID_INPUT): what is shown once was shown to the first. */
export function madeAlready(thing: string): Refusal {
  const message = `This ${thing} was made already; its secret was shown then, and is not shown again.`;
  return new Refusal('INVALID_INPUT', message, {
    faults: [{ path: '', code: 'once.made_already', message }],
  });
}
