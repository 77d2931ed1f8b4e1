import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Cfe } from '../../../src/db/entities/Cfe.ts';
import { CFE_TYPE_NAMES, type CfeType } from '../../../src/domain/cfeTypes.ts';
import { useApi } from '../../support/apiSuite.ts';
import { familyOf, isNote, validRequest } from '../../support/arbitraries/cfeRequests.ts';
import { MUTATIONS } from '../../support/arbitraries/mutations.ts';
import { aReadyEnterprise } from '../../support/enterprises.ts';
import { type JsonObject, toJson } from '../../support/exactJson.ts';
import { type Answer, faultCodes } from '../../support/http.ts';
import { TODAY } from '../../support/receipts/randomReceipts.ts';
import { SEED } from '../../support/receipts/seeds.ts';

/** Requests that each mutation spoils. */
const RUNS = 3;
/** Largest body that the API takes (docs/contract.md#bodies). */
const MOST_BYTES = 1024 * 1024;

const suite = useApi({ clock: () => new Date(`${TODAY}T12:00:00-03:00`) });
/** By family. */
const originals = new Map<string, { cfeId: string; body: JsonObject }>();
let path: string;

const post = <T>(body: JsonObject): Promise<Answer<T>> => suite.owner.client.post<T>(path, toJson(body));
const stored = () => suite.db.orm.em.fork().count(Cfe, {});

beforeAll(async () => {
  const rut = await aReadyEnterprise(suite.db.orm, suite.owner.accountId);
  path = `/enterprises/${rut}/cfes`;
  for (const type of CFE_TYPE_NAMES.filter((name) => !isNote(name))) {
    const [body = {}] = fc.sample(validRequest(type, { today: TODAY }), { seed: SEED, numRuns: 1 });
    const answer = await post<{ cfe_id: string }>(body);
    if (answer.status !== 201) throw new Error(`an original was refused: ${answer.text}`);
    originals.set(type, { cfeId: answer.data.cfe_id, body });
  }
});

/** Valid requests of a type; notes correct the original of their family that the enterprise issued. */
function requestsOf(type: CfeType): fc.Arbitrary<JsonObject> {
  const original = originals.get(familyOf(type));
  return validRequest(type, { today: TODAY, ...(original && isNote(type) ? { original } : {}) });
}

describe('POST …/cfes with one fault', () => {
  test.each(MUTATIONS.map((mutation, index) => [mutation.name, mutation, SEED + index] as const))(
    '400: %s, told there and as that; nothing is numbered',
    async (_, mutation, seed) => {
      const spoilt = fc
        .oneof(...CFE_TYPE_NAMES.map(requestsOf))
        .map((body) => mutation.apply(body))
        .filter((mutated) => mutated !== undefined)
        .filter(({ body }) => Buffer.byteLength(toJson(body)) <= MOST_BYTES);

      for (const { body, path: place, code } of fc.sample(spoilt, { seed, numRuns: RUNS })) {
        const answer = await post(body);

        expect([answer.status, answer.error?.code]).toEqual([400, 'INVALID_INPUT']);
        expect(faultCodes(answer)[place]).toContain(code);
      }
      expect(await stored()).toBe(originals.size);
    },
  );
});
