/** Papers on which a receipt is printed: a sheet, or a roll of that width (docs/authority/printed-form.md#paper). */
export const PAPERS = ['A4', '80mm', '58mm'] as const;
export type Paper = (typeof PAPERS)[number];
