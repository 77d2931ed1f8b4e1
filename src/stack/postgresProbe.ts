import { connect } from 'node:net';

const PROTOCOL_3 = 196_608;
const STARTING_UP = '57P03';

/**
 * Whether a PostgreSQL server takes connections, asked as `pg_isready` asks: a start-up message, answered by a demand
 * for a password (or any refusal but "starting up"). Never rejects.
 */
export function postgresAccepts(host: string, port: number, withinMs = 1_000): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (accepts: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(accepts);
    };
    const timer = setTimeout(() => settle(false), withinMs);
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    socket.once('connect', () => socket.write(startupMessage({ user: 'probe', database: 'probe' })));
    socket.once('data', (answer) => {
      const refused = answer[0] === 'E'.charCodeAt(0);
      settle(!(refused && answer.includes(STARTING_UP)));
    });
  });
}

function startupMessage(parameters: Record<string, string>): Buffer {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}\0${value}\0`);
  const body = Buffer.from(`${pairs.join('')}\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 8, 0);
  head.writeInt32BE(PROTOCOL_3, 4);
  return Buffer.concat([head, body]);
}
