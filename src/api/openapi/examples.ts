/** Examples of the document: what a customer of a running stack sent and got, recorded by `tools/examples.ts`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RefusalCode } from '../../errors.ts';
import type { ErrorBody } from '../errorAnswer.ts';

/** An example object of OpenAPI. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** What was sent to an operation and what it answered, by the example's name. */
export interface OperationExamples {
  readonly requests?: Readonly<Record<string, Example>>;
  readonly answers?: Readonly<Record<string, Example>>;
  /** Answers where the query asks for a trial. */
  readonly trials?: Readonly<Record<string, Example>>;
}

/** All that was recorded. */
export interface Examples {
  /** By operationId. */
  readonly operations: Readonly<Record<string, OperationExamples>>;
  readonly errors: Readonly<Partial<Record<RefusalCode, ErrorBody>>>;
}

/** Where the recorded examples stand. */
export const EXAMPLES_FILE = join(import.meta.dirname, '../../../openapi.examples.json');

/** The recorded examples. */
export function readExamples(): Examples {
  return JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples;
}
