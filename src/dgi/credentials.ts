import { z } from 'zod';
import { NoAnswer } from './answers.ts';
import { type Breakers, withPermit } from './calls.ts';
import { AnswerTooLarge, post, type Timeouts, Unanswered } from './post.ts';

/** The result of checking a login. */
export interface LoginAnswer {
  login: 'success' | 'failed';
  permissions: ('HOMO' | 'PROD')[];
  message: string;
}

/** The credentials check gave no usable answer. The message holds nothing of the request. */
export class CredentialsCheckUnavailable extends Error {
  override readonly name = 'CredentialsCheckUnavailable';
}

const MOST_BYTES = 64 * 1024;
/** Errors whose messages hold nothing of the request. */
const NO_ANSWER = [NoAnswer, Unanswered, AnswerTooLarge];

interface LoginQuery {
  rut: string;
  username?: string;
  password?: string;
}

const Answer = z
  .object({
    login: z.enum(['success', 'failed']),
    permissions: z.array(z.string()).default([]),
    message: z.string().default(''),
  })
  // Ignores permissions that we do not know.
  .transform(
    (answer): LoginAnswer => ({
      ...answer,
      permissions: (['HOMO', 'PROD'] as const).filter((permission) =>
        answer.permissions.includes(permission),
      ),
    }),
  );

/**
 * Creates the check of an enterprise's login and permissions at the authority: `POST {url}` {rut, username?, password?}.
 * The contract is ours (docs/contract.md#credentials), as the authority publishes none. Without a login it checks the
 * RUT alone. Rejects with CredentialsCheckUnavailable.
 */
export function createCredentialsCheck(options: {
  url: string;
  timeoutSeconds: number;
  ca?: string | undefined;
  /** Permits or refuses each call; without it, all are permitted. */
  breakers?: Breakers | undefined;
}) {
  const timeouts: Timeouts = {
    connectSeconds: options.timeoutSeconds,
    answerSeconds: options.timeoutSeconds,
  };
  async function ask({ rut, username, password }: LoginQuery): Promise<LoginAnswer> {
    const answer = await post({
      url: options.url,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ rut, username, password }),
      timeouts,
      mostBytes: MOST_BYTES,
      ca: options.ca,
    });
    if (answer.status !== 200) throw new NoAnswer('http', `HTTP ${answer.status}`);
    const parsed = Answer.safeParse(parseJsonBody(answer.body));
    if (!parsed.success) throw new NoAnswer('unreadable', 'the answer is not the expected JSON');
    return parsed.data;
  }

  return async (login: LoginQuery): Promise<LoginAnswer> => {
    try {
      return await withPermit(options.breakers, { endpoint: 'credentials', isProbe: false }, () =>
        ask(login),
      );
    } catch (error) {
      if (!NO_ANSWER.some((kind) => error instanceof kind)) throw error;
      throw new CredentialsCheckUnavailable((error as Error).message, { cause: error });
    }
  };
}

function parseJsonBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
