import { proxyActivities } from '@temporalio/workflow';

interface NoopActivities {
  own(): Promise<void>;
  call(): Promise<void>;
}

const { own } = proxyActivities<NoopActivities>({ startToCloseTimeout: 20_000 });
const { call } = proxyActivities<NoopActivities>({ taskQueue: 'bench-calls', startToCloseTimeout: 20_000 });

/** As many activities as a CFE has, on queues of the same kind; they do nothing. */
export async function noop(): Promise<void> {
  await own();
  await call();
  await call();
}
