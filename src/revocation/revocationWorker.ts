/** The thread that asks about certificates: long lists are parsed here, and delay no request (lookUpRevocation.ts). */
import { parentPort, workerData } from 'node:worker_threads';
import type { Issued } from '../crypto/revocation.ts';
import { fetchBounded } from './fetchBounded.ts';
import { type Judgement, judgeList, judgeOcsp, ocspQuestion, revocationAddresses } from './judge.ts';

/** Certificates to ask about, each with its issuer's. */
export interface RevocationTask {
  readonly asked: readonly Issued[];
  readonly localServers: boolean;
}

/** The judgement of the certificate at `index`; undefined: unknown. */
export interface RevocationAnswer {
  readonly index: number;
  readonly judgement: Judgement | undefined;
}

const { asked, localServers } = workerData as RevocationTask;
/** Lists are the same for all certificates of an issuer. */
const lists = new Map<string, Promise<Uint8Array | undefined>>();
/** Responders that gave no answer are not asked again. */
const silent = new Set<string>();

function listAt(address: string): Promise<Uint8Array | undefined> {
  const fetched = lists.get(address) ?? fetchBounded(address, { localServers });
  lists.set(address, fetched);
  return fetched;
}

async function askResponder(address: string, one: Issued): Promise<Judgement | undefined> {
  if (silent.has(address)) return undefined;
  const answer = await fetchBounded(address, { localServers, question: await ocspQuestion(one) });
  if (!answer) silent.add(address);
  return answer && (await judgeOcsp(one, answer, new Date()));
}

async function askList(address: string, one: Issued): Promise<Judgement | undefined> {
  const list = await listAt(address);
  return list && judgeList(one, list, new Date());
}

/** Returns the first judgement: responders know of a revocation before lists do. */
async function judge(one: Issued): Promise<Judgement | undefined> {
  const addresses = revocationAddresses(one.certificate);
  const sources = [
    ...addresses.responders.map((address) => () => askResponder(address, one)),
    ...addresses.lists.map((address) => () => askList(address, one)),
  ];
  for (const ask of sources) {
    // A malformed answer is none.
    const judgement = await ask().catch(() => undefined);
    if (judgement) return judgement;
  }
  return undefined;
}

for (const [index, one] of asked.entries()) {
  const judgement = await judge(one).catch(() => undefined);
  const answer: RevocationAnswer = { index, judgement };
  parentPort?.postMessage(answer, []);
}
