/**
 * `npm start` at the DATABASE_URL of a test run: each program logs in as its own role there. It prepares and migrates
 * as the owner, whose password all roles have.
 */
import { runLocalStack } from '../../../local/stack/runLocalStack.ts';
import { asProgram } from '../database/database.ts';

process.exit(
  await runLocalStack({
    databaseUrlOf: (login, databaseUrl) => (login === 'owner' ? databaseUrl : asProgram(databaseUrl, login)),
  }),
);
