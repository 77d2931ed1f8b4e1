/** The address of a receipt's page: below the public address of the API, which ends without a slash. */
export const receiptUrl = (publicUrl: string, token: string): string => `${publicUrl}/r/${token}`;
