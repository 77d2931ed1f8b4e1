/**
 * The search attributes by which operators filter workflows (docs/contract.md#workflows), and their
 * registration with a server.
 */
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import proto from '@temporalio/proto';

const { INDEXED_VALUE_TYPE_BOOL, INDEXED_VALUE_TYPE_KEYWORD, INDEXED_VALUE_TYPE_KEYWORD_LIST } =
  proto.temporal.api.enums.v1.IndexedValueType;

/**
 * Each attribute with its type. With visibility in SQL a namespace has only 10 columns for Keyword and 3 for
 * KeywordList, so an attribute has the same meaning in every workflow.
 */
export const SEARCH_ATTRIBUTES = {
  /** The status of the run's CFEs: PENDING until each has its verdict, then the worst of them. */
  CfeStatus: INDEXED_VALUE_TYPE_KEYWORD,
  /** The type of the first CFE. */
  CfeType: INDEXED_VALUE_TYPE_KEYWORD,
  /** All CFEs of the run. */
  CfeId: INDEXED_VALUE_TYPE_KEYWORD_LIST,
  EnterpriseRut: INDEXED_VALUE_TYPE_KEYWORD,
  Environment: INDEXED_VALUE_TYPE_KEYWORD,
  ReportDate: INDEXED_VALUE_TYPE_KEYWORD,
  /**
   * The status of a daily report or a delivery. Not `Status`, a word of the query language that would need
   * backquotes.
   */
  State: INDEXED_VALUE_TYPE_KEYWORD,
  DeliveryEvent: INDEXED_VALUE_TYPE_KEYWORD,
  StuckReason: INDEXED_VALUE_TYPE_KEYWORD,
  NeedsSupport: INDEXED_VALUE_TYPE_BOOL,
} as const;
export type SearchAttribute = keyof typeof SEARCH_ATTRIBUTES;

/** The attributes of a new run, as stored in the outbox. */
export type StartAttributes = Readonly<
  Partial<
    Record<Exclude<SearchAttribute, 'CfeId' | 'NeedsSupport' | 'StuckReason'>, string> & {
      CfeId: readonly string[];
    }
  >
>;

/** Converts attributes to those of the SDK. */
export const startAttributePairs = (attributes: StartAttributes): SearchAttributePair[] =>
  Object.entries(attributes).map(([name, value]) =>
    typeof value === 'string'
      ? { key: defineSearchAttributeKey(name, 'KEYWORD'), value }
      : { key: defineSearchAttributeKey(name, 'KEYWORD_LIST'), value: [...value] },
  );

/**
 * Adds the missing attributes to the namespace; returns those that could not be added (no free column, or no
 * permission, as in Temporal Cloud) or that exist with another type. Safe at every start and in several
 * processes at once. Throws the server's error if it cannot be asked.
 */
export async function ensureSearchAttributes(
  server: ConnectionOptions,
  namespace: string,
): Promise<string[]> {
  const connection = await Connection.connect({ ...server, connectTimeout: '20s' });
  const findMissing = async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return Object.entries(SEARCH_ATTRIBUTES).filter(([name, type]) => customAttributes?.[name] !== type);
  };
  try {
    const before = await findMissing();
    if (before.length === 0) return [];
    // An attribute that another process added meanwhile also makes this fail: the state afterwards counts.
    await connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(before) })
      .catch(() => {});
    return (await findMissing()).map(([name]) => name);
  } finally {
    await connection.close();
  }
}
