/** Probing whether a part answers; none of these ever rejects. */
import { connect, type Socket } from 'node:net';

const PROTOCOL_3 = 196_608;
const STARTING_UP = '57P03';

/** Whether something listens on a TCP port. */
export const tcpAccepts = (host: string, port: number, withinMs = 500): Promise<boolean> =>
  askSocket({ host, port, withinMs }, (socket, answer) => socket.once('connect', () => answer(true)));

/**
 * Whether a PostgreSQL server takes connections, found out as `pg_isready` does: it answers a start-up message by
 * asking for a password, or refuses for any reason but "starting up".
 */
export const postgresAccepts = (host: string, port: number, withinMs = 1_000): Promise<boolean> =>
  askSocket({ host, port, withinMs }, (socket, answer) => {
    socket.once('connect', () => socket.write(startupMessage({ user: 'probe', database: 'probe' })));
    socket.once('data', (data) => {
      const refused = data[0] === 'E'.charCodeAt(0);
      answer(!(refused && data.includes(STARTING_UP)));
    });
  });

function askSocket(
  { host, port, withinMs }: { host: string; port: number; withinMs: number },
  ask: (socket: Socket, answer: (accepts: boolean) => void) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const answer = (accepts: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(accepts);
    };
    const timer = setTimeout(() => answer(false), withinMs);
    socket.once('error', () => answer(false));
    socket.once('close', () => answer(false));
    ask(socket, answer);
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

/** Whether a GET of this address answers 200. */
export async function httpOk(address: string, withinMs = 1_000): Promise<boolean> {
  try {
    const response = await fetch(address, {
      signal: AbortSignal.timeout(withinMs),
      headers: { connection: 'close' },
    });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
