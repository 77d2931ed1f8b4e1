import { setCurrentDetails } from '@temporalio/workflow';
import { activity } from './activities.ts';
import { AUTHORITY, OWN_LONG } from './options.ts';

const loadEntries = activity('loadDirectory', {
  ...AUTHORITY,
  startToCloseTimeout: OWN_LONG.startToCloseTimeout,
  summary: 'Load the electronic issuers that came or changed',
});

/**
 * Loads the authority's list of electronic issuers, whole the first time, then its changes. Started once a day by the
 * schedule `directory`; ends with how many entries came, or null where no enterprise is there to ask for it.
 */
export async function loadDirectory(): Promise<{ entries: number | null }> {
  setCurrentDetails('Asking the authority for its list of electronic issuers; repeated until it answers.');
  const loaded = await loadEntries();
  const entries = loaded.kind === 'loaded' ? loaded.entries : null;
  setCurrentDetails(
    entries === null ? 'Ended: no enterprise is READY, to ask with.' : `Ended: entries told: ${entries}.`,
  );
  return { entries };
}
