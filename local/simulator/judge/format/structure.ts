import { CFE_NS } from '../../xml/names.ts';
import type { XmlTree } from '../../xml/read.ts';
import type { Place } from './layout.ts';

/**
 * Where an element departs from its layout: order, occurrence, names, values. Each fault is a path and what is wrong,
 * in Spanish, for Detalle.
 */
export function faultsOfStructure(element: XmlTree, places: readonly Place[], path = element.name): string[] {
  const faults: string[] = [];
  if (element.text.trim() !== '') faults.push(`${path}: texto fuera de lugar`);
  const { children } = element;
  let at = 0;
  for (const place of places) {
    let count = 0;
    for (; children[at]?.name === place.name && children[at]?.namespace === CFE_NS; at += 1) {
      const child = children[at];
      count += 1;
      if (!child) break;
      const childPath = place.max > 1 ? `${path}/${place.name}[${count}]` : `${path}/${place.name}`;
      faults.push(...faultsOfContent(child, place, childPath));
    }
    if (count < place.min) faults.push(`${path}/${place.name}: falta`);
    if (count > place.max) faults.push(`${path}/${place.name}: aparece ${count} veces, máximo ${place.max}`);
  }
  const stranger = children[at];
  if (stranger) faults.push(`${path}/${stranger.name}: no se espera en este lugar`);
  return faults;
}

function faultsOfContent(child: XmlTree, place: Place, path: string): string[] {
  if (typeof place.holds !== 'function') return faultsOfStructure(child, place.holds, path);
  if (child.children.length > 0) return [`${path}: no admite elementos`];
  const fault = place.holds(child.text);
  return fault === '' ? [] : [`${path}: ${fault}`];
}
