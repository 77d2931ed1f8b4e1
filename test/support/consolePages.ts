import type { Audience } from '../../src/console/access.ts';
import type { Side, World } from './consoleWorld.ts';

/** A page as it is asked, or a form as it is sent: of one account's things, made anew for each who asks. */
export interface Sample {
  readonly path: string;
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
}

/** A page or a form, and who gets what of it. */
export interface ConsolePage {
  /** Who may, said here once more: a page that lets in others fails. */
  readonly may: Audience;
  /**
   * Whose it is: an enterprise's (others are told 404, and who was granted VIEWER there is one), an account's, or everyone's own (a
   * list, one's own session), which shows others nothing of ours.
   */
  readonly of: 'enterprise' | 'account' | 'everyone';
  sample(side: Side, world: World): Sample | Promise<Sample>;
  /** The answer to who may; 200 of a page, 303 of a form unless told. */
  readonly answer?: number;
  /** What it answers is no page. */
  readonly isFile?: true;
  /** The form may fail with these rows, as it says on the page that follows. */
  readonly mayFail?: true;
}

const EVERYONE: Audience = { operators: 'VIEWER', members: 'VIEWER' };
const OPERATORS: Audience = { operators: 'VIEWER', members: null };
const at = (path: string, fields?: Sample['fields']) => (): Sample => ({
  path,
  ...(fields ? { fields } : {}),
});

/** Every page and form for those who are signed in, by method and path. */
export const CONSOLE_PAGES: Readonly<Record<string, ConsolePage>> = {
  'GET /': { may: EVERYONE, of: 'everyone', sample: at('/') },
  'GET /audit': { may: OPERATORS, of: 'everyone', sample: at('/audit') },
  'GET /help': { may: EVERYONE, of: 'everyone', sample: at('/help') },
  'GET /me': { may: EVERYONE, of: 'everyone', sample: at('/me') },
  'POST /me/sessions': {
    may: EVERYONE,
    of: 'everyone',
    sample: at('/me/sessions', { session: '00000000-0000-4000-8000-000000000000' }),
  },
  'POST /me/password': {
    may: EVERYONE,
    of: 'everyone',
    sample: at('/me/password', { old: 'not this one, surely', password: 'cuatro palabras mas largas' }),
    mayFail: true,
  },
  'POST /saved-filters': {
    may: EVERYONE,
    of: 'everyone',
    sample: at('/saved-filters', { to: '/cfes?rut=219999830019', name: 'mine' }),
  },
  'POST /saved-filters/{id}/delete': {
    may: EVERYONE,
    of: 'everyone',
    sample: at('/saved-filters/00000000-0000-4000-8000-000000000000/delete', { to: '/' }),
    mayFail: true,
  },
};

/** Pages and forms for anyone, which tests of signing in ask: by method and path. */
export const PAGES_FOR_ANYONE = [
  'GET /sign-in',
  'POST /sign-in',
  'GET /sign-in/code',
  'POST /sign-in/code',
  'GET /sign-in/oidc',
  'GET /sign-in/oidc/return',
  'GET /invitation/{token}',
  'POST /invitation/{token}',
  'POST /language',
];

/** What ends the session that asks, tested by itself. */
export const PAGES_THAT_END_A_SESSION = ['POST /sign-out'];
