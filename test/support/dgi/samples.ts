import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeXml } from '../../../src/dgi/xml/parse.ts';
import { XSD_DIR } from '../simulator/world.ts';

/** One of the authority's published samples, as bytes. */
export const sampleBytes = (name: string): Buffer => readFileSync(join(XSD_DIR, 'samples', name));

/** One of the authority's published samples, as text. */
export const sample = (name: string): string => decodeXml(sampleBytes(name));
