import { Rut } from '../../../domain/values/rut.ts';
import { Refusal } from '../../../errors.ts';
import { ErutView, erutView } from '../../../views/enterprises/erut.ts';
import { defineRoute } from '../../route.ts';

/** GET …/erut: the registry record of any RUT, registered here or not (docs/contract.md#registry-look-up). */
export const lookUpRutRoute = route('lookUpRut', '/enterprises/{rut}/erut');

/** GET /erut/{rut}: an alias (docs/contract.md#addresses). */
export const lookUpRutAliasRoute = route('lookUpRutAlias', '/erut/{rut}');

function route(name: string, path: `/${string}`) {
  return defineRoute({
    name,
    method: 'GET',
    path,
    summary: 'eRUT lookup',
    about:
      'The tax authority’s registry record of any RUT, registered here or not. Every call queries the authority, always its production service.',
    auth: 'token',
    role: null,
    params: { rut: Rut },
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
