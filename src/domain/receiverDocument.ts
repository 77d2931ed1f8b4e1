import { rutFault } from './rut.ts';

/** Kinds of document of a receiver: Uruguayan company tax id, foreign tax id (docs/contract.md#receivers). */
export const DOCUMENT_TYPES = ['RUC', 'NIFE'] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

/** What is wrong with the number of a document of that kind, or undefined: a RUC needs its check digit. */
export function documentFault(type: DocumentType, number: string): ReturnType<typeof rutFault> {
  return type === 'RUC' ? rutFault(number) : undefined;
}
