/** Asking whether a part answers; none of these ever rejects. */
import { connect } from 'node:net';

/** Whether somebody listens on a TCP port. */
export function tcpAccepts(host: string, port: number, withinMs = 500): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (accepts: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(accepts);
    };
    const timer = setTimeout(() => settle(false), withinMs);
    socket.once('error', () => settle(false));
    socket.once('connect', () => settle(true));
  });
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
