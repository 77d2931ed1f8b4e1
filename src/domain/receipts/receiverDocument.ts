import { rutFault } from '../values/rut.ts';

/** Documents of receivers: Uruguayan company tax id, foreign tax id (docs/contract.md#receivers). */
export const DOCUMENT_TYPES = ['RUC', 'NIFE'] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

/** Returns the fault of a document number, or undefined; only a RUC has a check digit. */
export function documentFault(type: DocumentType, number: string): ReturnType<typeof rutFault> {
  return type === 'RUC' ? rutFault(number) : undefined;
}
