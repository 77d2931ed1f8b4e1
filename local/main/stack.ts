/** `npm start`: the whole local stack, until Ctrl-C. */
import { runLocalStack } from '../stack/runLocalStack.ts';

process.exit(await runLocalStack());
