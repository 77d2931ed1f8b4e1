import { type CfeRule, rule } from '../cfeRule.ts';
import type { CfeType, IvaType } from '../cfeTypes.ts';

const TYPES: readonly CfeType[] = ['ETICKET', 'EFACTURA'];
const KINDS: readonly IvaType[] = ['NON_BILLABLE', 'NON_BILLABLE_NEGATIVE'];
const SOURCE = 'Formato CFE v25.2, zone A, field 20; docs/contract.md#collections';

/** Rules on the receipt of a collection (IndCobPropia). */
export const ownCollectionRules: readonly CfeRule[] = [
  rule(
    {
      code: 'own_collection.type',
      checks: 'Only an ETICKET or EFACTURA is a collection’s receipt.',
      source: SOURCE,
      example: 'header.doc_id.own_collection: must be false or omitted for ETICKET_NC.',
      needs: ['cfe_type', 'own_collection'],
    },
    ({ cfe_type, own_collection }) =>
      own_collection && !TYPES.includes(cfe_type)
        ? {
            at: ['header', 'doc_id', 'own_collection'],
            words: `must be false or omitted for ${cfe_type}.`,
          }
        : undefined,
  ),
  rule(
    {
      code: 'own_collection.lines',
      checks: 'The lines of a collection are NON_BILLABLE or NON_BILLABLE_NEGATIVE.',
      source: SOURCE,
      example:
        'details[0].iva_type: must be NON_BILLABLE or NON_BILLABLE_NEGATIVE in a collection, found BASIC_RATE.',
      needs: ['own_collection', 'kinds'],
    },
    ({ own_collection, kinds }) =>
      kinds.flatMap(({ iva_type }, index) => {
        if (!own_collection || KINDS.includes(iva_type)) return [];
        const words = `must be ${KINDS.join(' or ')} in a collection, found ${iva_type}.`;
        return [{ at: ['details', index, 'iva_type'], words }];
      }),
  ),
  rule(
    {
      code: 'own_collection.references',
      checks: 'A collection has references to what is collected.',
      source: SOURCE,
      example: 'references: is required in a collection; name what is collected.',
      needs: ['cfe_type', 'own_collection', 'references'],
    },
    ({ cfe_type, own_collection, references = [] }) =>
      own_collection && TYPES.includes(cfe_type) && references.length === 0
        ? { at: ['references'], words: 'is required in a collection; name what is collected.' }
        : undefined,
  ),
  rule(
    {
      code: 'own_collection.adjustments',
      checks: 'A collection has no adjustments.',
      source: SOURCE,
      example: 'header.adjustments: must be omitted in a collection.',
      needs: ['own_collection', 'adjustments'],
    },
    ({ own_collection, adjustments = [] }) =>
      own_collection && adjustments.length > 0
        ? { at: ['header', 'adjustments'], words: 'must be omitted in a collection.' }
        : undefined,
  ),
];
