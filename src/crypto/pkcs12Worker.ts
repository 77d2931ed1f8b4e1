/** The thread that opens one container: the file decides the running time (pkcs12.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import { openIdentity } from './pkcs12Identity.ts';

const { file, password } = workerData as { file: Uint8Array; password: string };
parentPort?.postMessage(openIdentity(file, password), []);
