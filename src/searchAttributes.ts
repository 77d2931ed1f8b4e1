/**
 * The search attributes that operators filter workflows by (docs/contract.md#workflows), and making sure that a server
 * has them.
 */
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import proto from '@temporalio/proto';

const { INDEXED_VALUE_TYPE_BOOL, INDEXED_VALUE_TYPE_KEYWORD, INDEXED_VALUE_TYPE_KEYWORD_LIST } =
  proto.temporal.api.enums.v1.IndexedValueType;

/**
 * Each attribute with its type. A namespace whose visibility is in SQL has 10 columns for Keyword and 3 for KeywordList,
 * and no more: one attribute means the same kind of thing in every workflow that has it.
 */
export const SEARCH_ATTRIBUTES = {
  /** Of the CFEs of the run: PENDING until each has its verdict, then the worst of them. */
  CfeStatus: INDEXED_VALUE_TYPE_KEYWORD,
  /** Of its first CFE. */
  CfeType: INDEXED_VALUE_TYPE_KEYWORD,
  /** Every CFE of the run. */
  CfeId: INDEXED_VALUE_TYPE_KEYWORD_LIST,
  EnterpriseRut: INDEXED_VALUE_TYPE_KEYWORD,
  Environment: INDEXED_VALUE_TYPE_KEYWORD,
  ReportDate: INDEXED_VALUE_TYPE_KEYWORD,
  /**
   * The status of a daily report, or of a delivery. Not `Status`: that is a word of the query language, and a query would
   * have to put it in backquotes.
   */
  State: INDEXED_VALUE_TYPE_KEYWORD,
  DeliveryEvent: INDEXED_VALUE_TYPE_KEYWORD,
  StuckReason: INDEXED_VALUE_TYPE_KEYWORD,
  NeedsSupport: INDEXED_VALUE_TYPE_BOOL,
} as const;
export type SearchAttribute = keyof typeof SEARCH_ATTRIBUTES;

/** The attributes of a run that is started, as the outbox keeps them. */
export type StartAttributes = Readonly<
  Partial<
    Record<Exclude<SearchAttribute, 'CfeId' | 'NeedsSupport' | 'StuckReason'>, string> & {
      CfeId: readonly string[];
    }
  >
>;

/** The same as the SDK takes them. */
export const startAttributePairs = (attributes: StartAttributes): SearchAttributePair[] =>
  Object.entries(attributes).map(([name, value]) =>
    typeof value === 'string'
      ? { key: defineSearchAttributeKey(name, 'KEYWORD'), value }
      : { key: defineSearchAttributeKey(name, 'KEYWORD_LIST'), value: [...value] },
  );

/**
 * Adds the attributes that the namespace lacks, and answers the names of those that could not be added (all columns are
 * taken, or adding them is not ours to do, as in Temporal Cloud) or that are there with another type; safe at every
 * start and in several processes at once. Throws the server's error when it cannot be asked.
 */
export async function ensureSearchAttributes(
  server: ConnectionOptions,
  namespace: string,
): Promise<string[]> {
  const connection = await Connection.connect({ ...server, connectTimeout: '20s' });
  const lacking = async () => {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return Object.entries(SEARCH_ATTRIBUTES).filter(([name, type]) => customAttributes?.[name] !== type);
  };
  try {
    const before = await lacking();
    if (before.length === 0) return [];
    // One that another process added meanwhile makes this fail as well: what counts is what is there afterwards.
    await connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(before) })
      .catch(() => {});
    return (await lacking()).map(([name]) => name);
  } finally {
    await connection.close();
  }
}
