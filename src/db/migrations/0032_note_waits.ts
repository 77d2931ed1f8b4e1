import { Migration } from '@mikro-orm/migrations';

/**
 * Whether a note waits for the verdict on a CFE. A volatile function reads as of its call: in a statement that has waited
 * for the lock of that CFE it sees the note for whose commit it waited.
 */
export class Migration0032NoteWaits extends Migration {
  override name = '0032_note_waits';

  override up(): void {
    this.addSql(`
      create function note_waits_for(original uuid) returns boolean language sql volatile as $$
        select exists (select from cfe where reference_id = original and status = 'PENDING');
      $$`);
  }
}
