import { Migration0001Baseline } from './0001_baseline.ts';

/** All migrations in order. A migration that has run anywhere is never changed; changes come as a new one. */
export const MIGRATIONS = [{ name: '0001_baseline', class: Migration0001Baseline }];
