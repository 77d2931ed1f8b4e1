import { describe, expect, test } from '@jest/globals';
import { undescribed, withoutSource } from '../../../../tools/openapi/undescribed.ts';
import { DOCUMENT } from '../../../support/openapi/conformance.ts';

const document = JSON.parse(JSON.stringify(DOCUMENT)) as Record<string, unknown>;
/** The document with one thing less, or other. */
const altered = (change: (text: string) => string): Record<string, unknown> => {
  const text = JSON.stringify(document);
  const other = change(text);
  if (other === text) throw new Error('nothing was altered');
  return JSON.parse(other) as Record<string, unknown>;
};

describe('what the description leaves unexplained', () => {
  test('is nothing', () => {
    expect([...undescribed(document), ...withoutSource(document)]).toEqual([]);
  });

  test.each<[string, (text: string) => string, string]>([
    [
      'a field',
      (text) =>
        text.replace(
          '"description":"Name of the product or service. ',
          '"note":"Name of the product or service. ',
        ),
      'CfeLine.item_name: a description',
    ],
    [
      'a value of an enum',
      (text) =>
        text.replace(
          '"x-enum-descriptions":["Numbered and stored;',
          '"x-enum-descriptions":["","Numbered and stored;',
        ),
      'CfeStatus: the meaning of each value',
    ],
    [
      'an example',
      (text) => text.replace('"examples":["Café molido 250 g"]', '"examples":[]'),
      'CfeLine.item_name: an example',
    ],
    [
      'a header',
      (text) => text.replace('"description":"Seconds to wait before the next try."', '"description":""'),
      'header Retry-After: a description',
    ],
    [
      'an event',
      (text) => text.replace('"operationId":"onCfeUpdated"', '"operationId":""'),
      'post cfe.updated: operationId',
    ],
    [
      'an error',
      (text) => text.replace(/"description":"HTTP 429\.[^"]*"/, '"description":""'),
      'RateLimitedError: a description',
    ],
  ])('is found: %s', (_, change, place) => {
    expect(undescribed(altered(change))).toContain(place);
  });

  test('is found: a field of a CFE that does not say from where it comes', () => {
    expect(
      withoutSource(
        altered((text) =>
          text.replace('Name of the product or service. Source: ', 'Name of the product or service. '),
        ),
      ),
    ).toEqual(['CfeLine.item_name: a source']);
  });
});
