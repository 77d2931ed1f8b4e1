import { spawnSync } from 'node:child_process';
import { testWith } from '../simulator/tools.ts';

const PROGRAMS = ['pdftotext', 'pdffonts', 'pdftoppm', 'pdfdetach'];

/** For tests that look at PDFs with poppler's programs; in CI they run, and fail, without them. */
export const testWithPoppler = testWith(
  PROGRAMS.every((program) => spawnSync(program, ['-v']).error === undefined),
  'poppler-utils',
);
