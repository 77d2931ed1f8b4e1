import { Rut } from '../../domain/rut.ts';
import { Refusal } from '../../errors.ts';
import { defineRoute } from '../route.ts';
import { ErutView, erutView } from '../views/erut.ts';

/**
 * GET …/erut: what the authority's registry tells of any RUT, registered here or not
 * (docs/contract.md#registry-look-up).
 */
const ADDRESS = '/enterprises/{rut}/erut';

export const lookUpRut = route('lookUpRut', ADDRESS);

/** GET /erut/{rut}: the same, by its second address (docs/contract.md#addresses). */
export const lookUpRutAlias = route('lookUpRutAlias', '/erut/{rut}', { deprecatedFor: ADDRESS });

function route(name: string, path: `/${string}`, more: { deprecatedFor?: string } = {}) {
  return defineRoute({
    name,
    method: 'GET',
    path,
    summary: 'eRUT lookup',
    about:
      'What the tax authority’s registry tells of any RUT, registered here or not. Every call asks the authority, and always its production service.',
    ...more,
    auth: 'token',
    sandbox: false,
    role: null,
    params: { rut: Rut },
    query: null,
    body: null,
    success: { status: 200, description: "The registry's record", schema: ErutView },
    errors: ['NOT_FOUND', 'UNAVAILABLE'],
    async handle({ params }, deps) {
      const record = await deps.lookUpRut(params.rut);
      if (!record)
        throw new Refusal('NOT_FOUND', `The tax authority's registry does not have the RUT ${params.rut}.`);
      return erutView(record);
    },
  });
}
