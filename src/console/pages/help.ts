import { keyHelp } from '../layout.ts';
import { definePage, show } from '../page.ts';
import { panel } from '../parts.ts';

/** GET /help: the keyboard shortcuts; with script, a dialog over any page. */
export const helpPage = definePage({
  name: 'help',
  route: 'GET /help',
  async handle({ visit }) {
    return show(visit.texts.lists.keysTitle, panel(null, keyHelp(visit)));
  },
});
