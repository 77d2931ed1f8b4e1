/** Opens one container in a thread of its own: the file decides how long it takes (pkcs12.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { openIdentity } from './pkcs12Identity.ts';

const { file, password } = workerData as { file: Uint8Array; password: string };
parentPort?.postMessage(openIdentity(file, password), []);
