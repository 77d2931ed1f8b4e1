/** Texts of the second factor. */
export const secondFactorEn = {
  title: 'Second factor',
  manage: 'Set up, replace or turn off',
  held: 'On: after your password, you enter a code from your authenticator app.',
  none: 'Off: your password alone is enough to sign in. A second factor is recommended.',
  ofProvider: 'You sign in with your organisation: your organisation manages the second factor.',
  byInvitation:
    'You became an operator, and operators must have a second factor. Set it up with the link of a new invitation: ask an administrator of the service for one.',
  setUp: 'Set up',
  setUpAbout: 'Enter your password first. Then you get a key for an authenticator app on your phone.',
  replace: 'Replace',
  replaceAbout:
    'For another phone or another app. The current one works until you enter the first code of the new one.',
  present: 'Six-digit code from your current app',
  show: 'Show a new key',
  off: 'Turn off',
  offAbout: 'From then on your password alone is enough to sign in.',
  offSubmit: 'Turn off (other sessions end)',
  offDone: 'The second factor is off. Your other sessions have ended.',
  newTitle: 'New key for your app',
  newAbout:
    'Scan the QR code with an authenticator app and type the six digits that it shows. Nothing changes until then; the key expires in ten minutes.',
  newSubmit: 'Turn on (other sessions end)',
  leave: 'Cancel',
  done: 'The second factor is on. Your other sessions have ended.',
  lost: 'Without your phone or your password you cannot do any of this. Ask support for a link to set up both again.',
};
