import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeVariables } from '../src/config.ts';

/** `npm run env-example`: writes .env.example from the table of variables. */
writeFileSync(join(import.meta.dirname, '../.env.example'), describeVariables());
