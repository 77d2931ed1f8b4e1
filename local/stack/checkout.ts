import { fileURLToPath } from 'node:url';

/** The folder of the project. */
export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
