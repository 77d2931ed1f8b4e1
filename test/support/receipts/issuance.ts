import fc from 'fast-check';
import { writeCfe } from '../../../src/dgi/xml/cfe.ts';
import type { CfeDocument, Issuer } from '../../../src/domain/receipts/cfeDocument.ts';
import { CFE_TYPE_NAMES, type CfeType } from '../../../src/domain/receipts/cfeTypes.ts';
import { familyOf } from '../arbitraries/cfeRequests.ts';
import type { AuthorityHall } from './authorityHall.ts';
import type { JsonObject } from './exactJson.ts';
import { contentOf, requestsOf, TODAY } from './randomReceipts.ts';

/** A random receipt, signed. */
export interface IssuedReceipt {
  /** Where it comes from: `ETICKET_NC seed 7 #12`, or that one's original. */
  readonly from: string;
  readonly type: CfeType;
  readonly body: JsonObject;
  /** The request of the CFE that a note corrects; undefined for what is no note. */
  readonly original: JsonObject | undefined;
  /** What it was written from. */
  readonly document: CfeDocument;
  readonly xml: string;
}

/** How many receipts a seed is to give: so many of each type, and an original for each note. */
interface IssuanceWishes {
  readonly seed: number;
  readonly perType: number;
}

/** Signs random requests one after another under the CAEs of an issuer; originals stand before their notes. */
export function createIssuance(hall: AuthorityHall): (wishes: IssuanceWishes) => IssuedReceipt[] {
  const issuer: Issuer = {
    rut: hall.issuerRut,
    legalName: 'Almacén Ñandú S.R.L.',
    branch: 1,
    address: 'Av. 18 de Julio 1234',
    city: 'Montevideo',
    department: 'Montevideo',
  };
  const taken = new Map<CfeType, number>();

  const documentOf = (type: CfeType, body: JsonObject, original?: CfeDocument): CfeDocument => {
    const cae = hall.caes.get(type);
    if (!cae) throw new Error(`no CAE of type ${type}`);
    const content = contentOf(body, original);
    const numero = taken.get(type) ?? cae.numberStart;
    taken.set(type, numero + 1);
    return { ...content, issuer, serie: 'A', numero, cae, signedAt: `${TODAY}T12:00:00-03:00` };
  };
  const signed = (document: CfeDocument) => hall.signer.sign(writeCfe(document)).xml;

  return ({ seed, perType }) =>
    CFE_TYPE_NAMES.flatMap((type) => {
      const requests = fc.sample(requestsOf(type), {
        seed,
        numRuns: perType,
      });
      return requests.flatMap(({ body, original }, index): IssuedReceipt[] => {
        const from = `${type} seed ${seed} #${index}`;
        try {
          if (!original) {
            const document = documentOf(type, body);
            return [{ from, type, body, original, document, xml: signed(document) }];
          }
          const family = familyOf(type);
          const corrected = documentOf(family, original);
          const note = documentOf(type, body, corrected);
          return [
            {
              from: `original of ${from}`,
              type: family,
              body: original,
              original: undefined,
              document: corrected,
              xml: signed(corrected),
            },
            { from, type, body, original, document: note, xml: signed(note) },
          ];
        } catch (cause) {
          throw new Error(from, { cause });
        }
      });
    });
}
