/**
 * One at a time on a folder that few processes use and most lock once, such as that of a run: an
 * exclusive flock(2), as of a workspace (lock.ts). A process that locks many folders keeps one program
 * that holds all of these locks, because starting `flock` for each takes milliseconds.
 *
 * The locks end with the program, and the program ends when this process does. If the program alone
 * dies, its locks are gone: callers need another guard against a second writer. Runs have the keys of
 * their facts.
 */
import { closeSync, constants } from 'node:fs'
import { AnsweringProgram, findProgram, openEntry } from '../../machine/index.ts'
import { withWorkspaceLock } from './lock.ts'

const [LOCK_EX, LOCK_NB] = [2, 4]

/** Takes and drops locks line by line; paths come in hex. */
const KEEPER = `
$| = 1;
my %held;
while (my $line = <STDIN>) {
  chomp $line;
  my ($verb, $id, $path) = split / /, $line;
  my $is = 1;
  if ($verb eq 'lock') {
    my $folder;
    $is = sysopen($folder, pack('H*', $path), ${constants.O_RDONLY}) && flock($folder, ${LOCK_EX | LOCK_NB});
    $held{$id} = $folder if $is;
  } else { delete $held{$id} }
  print $is ? 'yes' : 'no', "\\n.\\n";
}
`

/** How often `flock` alone is used: a short command is done before a program pays. */
const LOCKS_BEFORE = 2

class FolderKeeper {
  #locks = 0
  #program: AnsweringProgram | null = null

  /** Takes the lock; null if it is not free, or `flock` has to be used. */
  async take(folder: string): Promise<(() => Promise<void>) | null> {
    if (this.#locks++ < LOCKS_BEFORE) return null
    const program = this.#ready()
    if (program === null) return null
    const id = this.#locks
    const handle = openEntry(folder, 'list')
    // The program opens the directory that this process has open, and no other one of that name.
    const path = Buffer.from(`/proc/${process.pid}/fd/${handle}`).toString('hex')
    const answer = await program.ask(`lock ${id} ${path}\n`).finally(() => closeSync(handle))
    if (answer?.[0] !== 'yes') return null
    return async () => {
      // A program that is gone has dropped it.
      await program.ask(`drop ${id}\n`)
    }
  }

  #ready(): AnsweringProgram | null {
    if (this.#program?.isAlive === true) return this.#program
    const perl = findProgram('perl')
    this.#program = perl === null ? null : new AnsweringProgram(perl, ['-e', KEEPER])
    return this.#program
  }
}

const FOLDERS = new FolderKeeper()

/** Runs `work` under the lock of a folder. Fails with `workspace.busy` if another holder has it. */
export async function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const drop = await FOLDERS.take(folder)
  if (drop === null) return withWorkspaceLock(folder, { waitMs: 0 }, () => work())
  try {
    return await work()
  } finally {
    await drop()
  }
}
