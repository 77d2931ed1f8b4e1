import { Worker } from 'node:worker_threads';

/** Runs tasks in threads of one script, which answers each message with one message. */
export interface Threads<Task, Result> {
  /** Runs a task in an idle thread, or in a new one. */
  readonly run: (task: Task) => Promise<Result>;
}

const CHECK_EVERY_MS = 100;

/**
 * Reuses threads: each takes one task after another and ends after `idleMs` without work. A failed task, more
 * than `mostSeconds` of processor time (so a busy machine fails none) or more heap than `mostMegabytes` ends
 * its thread. The caller limits concurrency.
 */
export function createThreads<Task, Result>({
  script,
  mostSeconds,
  mostMegabytes,
  idleMs,
}: {
  script: URL;
  mostSeconds: number;
  mostMegabytes: number;
  idleMs: number;
}): Threads<Task, Result> {
  /** Threads without work, with the timer that ends each. */
  const idle = new Map<Worker, NodeJS.Timeout>();
  const forget = (worker: Worker): void => {
    clearTimeout(idle.get(worker));
    idle.delete(worker);
  };
  const take = (): Worker => {
    const [idleWorker] = idle.keys();
    if (idleWorker) {
      forget(idleWorker);
      idleWorker.ref();
      return idleWorker;
    }
    const worker = new Worker(script, { env: {} });
    // The end of an idle thread must not end the process.
    return worker.on('error', () => forget(worker));
  };
  /** An idle thread must not keep the process running. */
  const rest = (worker: Worker): void => {
    worker.unref();
    const end = (): void => {
      forget(worker);
      void worker.terminate();
    };
    idle.set(worker, setTimeout(end, idleMs).unref());
  };
  return {
    async run(task) {
      const worker = take();
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      worker.once('message', resolve).once('error', reject);
      const watching = watchLimits(worker, { mostSeconds, mostMegabytes, onExceeded: reject });
      worker.postMessage(task, []);
      try {
        const result = await promise;
        worker.off('error', reject);
        rest(worker);
        return result;
      } catch (error) {
        await worker.terminate();
        throw error;
      } finally {
        clearInterval(watching);
      }
    },
  };
}

interface Bounds {
  mostSeconds: number;
  mostMegabytes: number;
  /** Called when the thread uses more processor time from now on, or more heap. */
  onExceeded: (error: Error) => void;
}

/** Watches a thread from outside: a thread that reaches V8's own heap limit may end the whole process. */
function watchLimits(worker: Worker, { mostSeconds, mostMegabytes, onExceeded }: Bounds): NodeJS.Timeout {
  let before: number | undefined;
  const check = async (): Promise<void> => {
    try {
      const [{ user, system }, heap] = await Promise.all([worker.cpuUsage(), worker.getHeapStatistics()]);
      before ??= user + system;
      if (user + system - before > mostSeconds * 1e6)
        onExceeded(new Error(`a thread took more than ${mostSeconds} s for its task`));
      if (heap.used_heap_size > mostMegabytes * 1e6)
        onExceeded(new Error(`a thread took more than ${mostMegabytes} MB for its task`));
    } catch {
      // The thread is not running yet, or has ended.
    }
  };
  return setInterval(() => void check(), CHECK_EVERY_MS);
}
