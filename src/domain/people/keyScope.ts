/** What an API key may do: everything, or only read (docs/contract.md#keys-and-tokens). */
export const KEY_SCOPES = ['full', 'read'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
