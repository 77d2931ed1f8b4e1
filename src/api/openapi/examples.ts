/**
 * Examples of the document: requests and answers of a customer on a running stack, recorded by
 * `tools/generate/examples.ts`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RefusalCode } from '../../errors.ts';
import type { ErrorBody } from '../errorAnswer.ts';

/** An example object of OpenAPI. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** Recorded requests and answers of an operation, by example name. */
export interface OperationExamples {
  readonly requests?: Readonly<Record<string, Example>>;
  readonly answers?: Readonly<Record<string, Example>>;
  /** Answers of the trial variant. */
  readonly trials?: Readonly<Record<string, Example>>;
}

export interface Examples {
  /** By operationId. */
  readonly operations: Readonly<Record<string, OperationExamples>>;
  readonly errors: Readonly<Partial<Record<RefusalCode, ErrorBody>>>;
}

export const EXAMPLES_FILE = join(import.meta.dirname, '../../../openapi.examples.json');

/** Reads the recorded examples. */
export function readExamples(): Examples {
  return JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as Examples;
}
