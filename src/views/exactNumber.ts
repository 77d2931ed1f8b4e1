import * as z from 'zod';
import { type ExactNumber as Exact, isExactNumber } from '../domain/values/exactNumber.ts';

/** Schema of an exact number in an answer. */
export const ExactNumberView = z.custom<Exact>(isExactNumber).meta({ type: 'number', examples: [1220] });
