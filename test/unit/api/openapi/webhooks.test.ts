import { describe, expect, test } from '@jest/globals';
import { ROLE_CHANGED, SAMPLE_EVENTS, sampleBody } from '../../../../src/api/openapi/eventSamples.ts';
import { createWebhookSecret } from '../../../../src/crypto/webhookSecret.ts';
import { EVENT_NAMES } from '../../../../src/domain/webhooks/events.ts';
import { WEBHOOK_EVENT_VIEWS } from '../../../../src/views/webhooks/webhookEvents.ts';
import { signatureHeaders } from '../../../../src/webhooks/signature.ts';
import { DOCUMENT, inspectEvent } from '../../../support/openapi/conformance.ts';

const body = sampleBody('enterprise.updated');
const changed = (change: (event: { timestamp?: unknown; data: Record<string, unknown> }) => void): string => {
  const event = JSON.parse(body) as { timestamp?: unknown; data: Record<string, unknown> };
  change(event);
  return JSON.stringify(event);
};

describe('the webhooks of the OpenAPI document', () => {
  test('are all events there are', () => {
    expect(Object.keys(DOCUMENT.webhooks)).toEqual(EVENT_NAMES);
  });

  test.each(EVENT_NAMES)(
    '%s: what the service makes is as the schema says, and no field is left unsaid',
    (name) => {
      const event = { event: name, timestamp: '2026-11-20T15:00:00.000Z', data: SAMPLE_EVENTS[name].data };

      expect(WEBHOOK_EVENT_VIEWS[name].parse(event)).toEqual(event);
      inspectEvent({ body: sampleBody(name) });
    },
  );

  test('have a sample of a changed role too, as it is described', () => {
    const event = {
      event: 'enterprise.updated',
      timestamp: '2026-11-20T15:00:00.000Z',
      data: ROLE_CHANGED.data,
    };
    expect(WEBHOOK_EVENT_VIEWS['enterprise.updated'].parse(event)).toEqual(event);
  });

  test('say who gets each: all accounts, or one webhook, where it is about no enterprise', () => {
    const operations = DOCUMENT.webhooks as Record<string, { post: { description: string } } | undefined>;
    const description = (name: string) => operations[name]?.post.description;
    expect(description('authority.updated')).toMatch(
      /^Sent to every webhook of any account that selected it/,
    );
    expect(description('webhook.test')).toMatch(/^Sent only to the tested webhook/);
    expect(description('cfe.updated')).toMatch(/OWNER or MEMBER/);
    expect(description('enterprise.updated')).toContain('sent only to the account whose role has changed');
  });

  test('name the headers that come with every attempt, one signature or two', () => {
    const secrets = [createWebhookSecret(), createWebhookSecret()];
    for (const count of [1, 2]) {
      const headers = signatureHeaders({
        id: '0c0e1ab1-0000-4000-8000-000000000003',
        at: new Date(),
        body: Buffer.from(body),
        secrets: secrets.slice(0, count),
      });
      inspectEvent({ body, headers: { ...headers } });
    }
    expect(() => inspectEvent({ body, headers: {} })).toThrow('the header webhook-id is undefined');
  });

  test.each([
    ['a field that lacks', changed(({ data }) => delete data['rut'])],
    ['a status that is none', changed(({ data }) => (data['status'] = 'GONE'))],
    ['a change without what was', changed(({ data }) => (data['changes'] = { status: { to: 'READY' } }))],
    ['a change to what cannot be', changed(({ data }) => (data['changes'] = { caes: { from: [], to: 1 } }))],
    ['no moment', changed((event) => delete event.timestamp)],
  ])('would not let pass %s', (_, wrong) => {
    expect(() => inspectEvent({ body: wrong })).toThrow('against openapi.json');
  });
});
