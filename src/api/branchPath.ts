/** A branch in a path: by the code that the authority gave to it. */
import { ENTERPRISE_WORDS, words } from '../domain/fieldWords.ts';
import { Rut } from '../domain/rut.ts';
import { wholeNumber } from './paging.ts';

export const BRANCH_PATH = '/enterprises/{rut}/branches/{branch}';

/** The values of BRANCH_PATH. */
export const BranchParams = {
  rut: Rut,
  branch: wholeNumber({ minimum: 0, maximum: 9999 }).meta(words(ENTERPRISE_WORDS.branch)),
};
