import type { Page } from '../page.ts';
import { auditListPage } from './audit.ts';
import { healthPage } from './health.ts';
import { helpPage } from './help.ts';
import { invitationPage, sendInvitation } from './invitation.ts';
import { mePage, sendEndSessions, sendLanguage, sendPassword } from './me.ts';
import { sendDeleteFilter, sendSavedFilter } from './savedFilters.ts';
import { codePage, oidcPage, oidcReturn, sendCode, sendSignIn, sendSignOut, signInPage } from './signIn.ts';

/** Every page and form of the console. */
export const PAGES: readonly Page[] = [
  healthPage,
  signInPage,
  sendSignIn,
  codePage,
  sendCode,
  oidcPage,
  oidcReturn,
  sendSignOut,
  invitationPage,
  sendInvitation,
  mePage,
  sendEndSessions,
  sendPassword,
  sendLanguage,
  helpPage,
  sendSavedFilter,
  sendDeleteFilter,
  auditListPage,
];
