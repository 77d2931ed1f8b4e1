/** Stands in for one of our own programs in tests of the supervisor: answers its probe and says whom it serves. */
import { createServer } from 'node:http';

const variables = {
  Simulator: 'CFE_SIMULATOR_PORT',
  Worker: 'CFE_WORKER_METRICS_PORT',
  Api: 'CFE_API_PORT',
  Console: 'CFE_CONSOLE_METRICS_PORT',
} as const;
const role = /fake(\w+)\.ts$/.exec(process.argv[1] ?? '')?.[1] as keyof typeof variables;
const port = process.env[variables[role]];

const server = createServer((request, response) => {
  response.writeHead(request.url === '/livez' || request.url === '/readyz' ? 200 : 404);
  response.end(JSON.stringify({ role, pid: process.pid }));
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`${role} listens\n`));
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => process.exit(0));
