import { Agent, request } from 'node:http';

/** What came of a run of calls. */
export interface Timings {
  readonly perSecond: number;
  /** Of each call. */
  readonly milliseconds: readonly number[];
  /** When each was due, by performance.now(). */
  readonly due: readonly number[];
}

/** Makes one call; rejects where it was not answered as it should be. */
export type Call = () => Promise<void>;

/** As many calls as `callers` can make, each one after the other. */
export async function closedLoop(call: Call, callers: number, seconds: number): Promise<Timings> {
  const milliseconds: number[] = [];
  const due: number[] = [];
  const started = performance.now();
  const deadline = started + seconds * 1_000;
  const caller = async (): Promise<void> => {
    while (performance.now() < deadline) {
      const at = performance.now();
      await call();
      milliseconds.push(performance.now() - at);
      due.push(at);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { perSecond: milliseconds.length / ((performance.now() - started) / 1_000), milliseconds, due };
}

/** Calls at a steady rate, whatever the answers take; a late answer counts from when it was due. */
export async function openLoop(call: Call, perSecond: number, seconds: number): Promise<Timings> {
  const milliseconds: number[] = [];
  const due: number[] = [];
  const started = performance.now();
  const running: Promise<void>[] = [];
  const total = Math.floor(perSecond * seconds);
  for (let i = 0; i < total; i++) {
    const at = started + (i / perSecond) * 1_000;
    const wait = at - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const ended = (): void => {
      milliseconds.push(performance.now() - at);
      due.push(at);
    };
    running.push(call().then(ended));
  }
  await Promise.all(running);
  return { perSecond: milliseconds.length / ((performance.now() - started) / 1_000), milliseconds, due };
}

/** What stands at `share` of the sorted numbers: 0.5 is the median. */
export const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? 0;

/** One line about a run. */
export function lineOf(
  title: string,
  { perSecond, milliseconds }: Pick<Timings, 'perSecond' | 'milliseconds'>,
): string {
  const at = (share: number): string => quantile(milliseconds, share).toFixed(1).padStart(7);
  return `${title.padEnd(34)} ${perSecond.toFixed(0).padStart(6)} /s   p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)} ms`;
}

/** An API as a customer reaches it. */
export interface Target {
  readonly agent: Agent;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A customer's access to the API at `port`, with a token of its key. */
export async function logIn(port: number, apiKey: string): Promise<Target> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/tokens`, {
    method: 'POST',
    body: '{}',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
  });
  const { data } = (await answer.json()) as { data: { access_token: string } };
  return {
    port,
    agent: new Agent({ keepAlive: true, maxSockets: 256 }),
    headers: {
      'x-api-key': apiKey,
      authorization: `Bearer ${data.access_token}`,
      'content-type': 'application/json',
    },
  };
}

/** Sends one request; rejects unless it succeeds. */
export function send(
  { agent, port, headers }: Target,
  method: string,
  path: string,
  { body, more = {} }: { body?: string; more?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { agent, port, host: '127.0.0.1', method, path, headers: { ...headers, ...more } };
    const sent = request(options, (answer) => {
      answer.resume();
      answer.once('end', () =>
        (answer.statusCode ?? 500) < 300
          ? resolve()
          : reject(new Error(`${method} ${path} answered ${answer.statusCode}`)),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
