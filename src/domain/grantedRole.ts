/** What an operator may let an account be at an enterprise of another account (docs/contract.md#roles). */
export const GRANTED_ROLES = ['VIEWER', 'MEMBER'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];
