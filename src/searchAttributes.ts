/**
 * The search attributes that operators filter workflows by (docs/contract.md#workflows), and making sure that a server
 * has them.
 */
import { Connection, type ConnectionOptions } from '@temporalio/client';
import proto from '@temporalio/proto';

const { INDEXED_VALUE_TYPE_BOOL, INDEXED_VALUE_TYPE_KEYWORD } = proto.temporal.api.enums.v1.IndexedValueType;

/** Each attribute with its type. */
export const SEARCH_ATTRIBUTES = {
  CfeStatus: INDEXED_VALUE_TYPE_KEYWORD,
  CfeType: INDEXED_VALUE_TYPE_KEYWORD,
  CfeId: INDEXED_VALUE_TYPE_KEYWORD,
  EnterpriseRut: INDEXED_VALUE_TYPE_KEYWORD,
  Environment: INDEXED_VALUE_TYPE_KEYWORD,
  ReportDate: INDEXED_VALUE_TYPE_KEYWORD,
  ReportStatus: INDEXED_VALUE_TYPE_KEYWORD,
  DeliveryStatus: INDEXED_VALUE_TYPE_KEYWORD,
  DeliveryEvent: INDEXED_VALUE_TYPE_KEYWORD,
  StuckReason: INDEXED_VALUE_TYPE_KEYWORD,
  NeedsSupport: INDEXED_VALUE_TYPE_BOOL,
} as const;
export type SearchAttribute = keyof typeof SEARCH_ATTRIBUTES;

const ALREADY_EXISTS = 6;

/**
 * Adds the attributes that the namespace lacks; safe at every start and in several processes at once. Throws the
 * server's error when it cannot be asked.
 */
export async function ensureSearchAttributes(server: ConnectionOptions, namespace: string): Promise<void> {
  const connection = await Connection.connect({ ...server, connectTimeout: '20s' });
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in (customAttributes ?? {})));
    if (missing.length === 0) return;
    await connection.operatorService
      .addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing) })
      .catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== ALREADY_EXISTS) throw error;
      });
  } finally {
    await connection.close();
  }
}
