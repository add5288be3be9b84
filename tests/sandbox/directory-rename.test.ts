/**
 * Directories of the real tree renamed inside a sandbox: by the programs that people use, with all that
 * they carry, while other processes look on; and the cases in which the first process does not help, so
 * that the kernel's own answer stays.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { driveOne, place, TEST_UID, WHO, type Who } from './drive.ts'

const EXDEV = 18

/** A directory with a bit of everything. */
function makeTree(root: string, as: Who, name = 'dd'): void {
  const at = (path: string): string => join(root, name, path)
  mkdirSync(at('sub/deep'), { recursive: true })
  mkdirSync(at('empty'))
  writeFileSync(at('a'), 'a\n')
  writeFileSync(at('sub/two words'), 'b\n')
  writeFileSync(at('sub/deep/x'), 'x\n')
  linkSync(at('a'), at('sub/hard'))
  symlinkSync('../a', at('sub/link'))
  execFileSync('mkfifo', [at('pipe')])
  execFileSync('setfattr', ['-n', 'user.kept', '-v', 'yes', at('sub')])
  chmodSync(at('sub/deep'), 0o555)
  chmodSync(at('empty'), 0o1777)
  execFileSync('sh', ['-c', 'git init -q . && git -c safe.directory=* add -A'], { cwd: root })
  if (as === 'user') execFileSync('chown', ['-R', '-h', `${TEST_UID}:${TEST_UID}`, root])
  execFileSync('find', [root, '-depth', '-exec', 'touch', '-h', '-d', '@1000000000', '{}', '+'])
}

/** Everything that a rename keeps, one line an entry. */
const list = (name: string): string =>
  `cd ${name} && find . -printf '%P %y %m %U:%G %T@ %l ' \\( -type d -o -printf '%n %s' \\) -printf '\\n' | sort; getfattr -R -h -d . | sort; cd ..`

function listed(root: string, name: string): string {
  return execFileSync('sh', ['-c', list(name)], { cwd: root, encoding: 'latin1' })
}

const PROGRAMS = {
  mv: 'mv dd ee',
  'git mv': 'git mv dd ee',
  'fs.renameSync': `${process.execPath} -e "fs.renameSync('dd', 'ee')"`,
  'fs.promises.rename': `${process.execPath} -e "fs.promises.rename('dd/', 'ee/')"`,
  'os.rename': `python3 -c "import os; os.rename('dd', 'ee')"`,
  'os.rename by descriptors': `python3 -c "import os; d = os.open('.', 0); os.rename('dd', 'ee', src_dir_fd=d, dst_dir_fd=d)"`,
  'a full path': 'mv "$PWD/dd" "$PWD/ee"',
  'twice, by two processes': 'mv dd between && mv between ee',
  'over an empty directory': 'mkdir ee && mv -T dd ee',
  'into another and back': 'mkdir -p o/p && mv dd o/p/q && mv o/p/q ee',
}

describe.each(WHO)('a directory renamed by %s', (as) => {
  it.each(Object.entries(PROGRAMS))('by %s is the same under its new name', async (_, script) => {
    const root = place(as)
    makeTree(root, as)
    const before = listed(root, 'dd')
    const { stdout, stderr, outcome } = await driveOne(
      { as, root },
      `${script} >&2 || exit 9; ls -d dd 2>/dev/null; ls -A | grep renaming; ${list('ee')}`,
    )
    expect({ stdout, exit: outcome.exitCode }, stderr).toEqual({ stdout: before, exit: 0 })
    expect(listed(root, 'dd')).toBe(before)
    expect(outcome.backgroundProcesses).toBe(0)
  })

  it('keeps an open file, and leaves who works in it behind', async () => {
    const root = place(as)
    makeTree(root, as)
    const script = `
      open my $file, '>>', 'dd/a'; $file->autoflush(1); chdir 'dd/sub' or die;
      rename '../../dd', '../../ee' or die "rename: $!";
      print $file "more\\n"; close $file;
      print open(my $new, '>', 'new') ? 'made' : $! + 0, "\\n"`
    const { stdout, stderr } = await driveOne(
      { as, root },
      `perl -MIO::Handle -e '${script.replaceAll("'", `'\\''`)}'; cat ee/a`,
    )
    expect(stderr).toBe('')
    expect(stdout).toBe('2\na\nmore\n')
  })

  it('of a thousand files comes through signals, and who is left behind is helped too', async () => {
    const root = place(as)
    mkdirSync(join(root, 'dd'))
    for (let index = 0; index < 1000; index++) writeFileSync(join(root, 'dd', `f${index}`), '.')
    if (as === 'user') execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, root])
    const script = `
      use POSIX;
      sigaction(SIGUSR1, POSIX::SigAction->new(sub {}, POSIX::SigSet->new, SA_RESTART));
      my $pid = $$;
      if (!fork) { while (kill 'USR1', $pid) { select undef, undef, undef, 0.001 } exit }
      print rename('dd', 'ee') ? 'renamed' : $! + 0;`
    const { stdout, outcome } = await driveOne(
      { as, root },
      `perl -e '${script.replaceAll("'", `'\\''`)}'; ls ee | wc -l; kill -9 -1; ( sleep 0.2; mv ee ff; ls ff | wc -l ) &`,
    )
    expect(stdout).toBe('renamed1000\n1000\n')
    expect(outcome).toMatchObject({ exitCode: 0, backgroundProcesses: 0 })
  })

  it('stays where it is when something is hidden inside', async () => {
    const root = place(as)
    makeTree(root, as)
    const { stdout } = await driveOne(
      { as, root, request: { hidden: [join(root, 'dd', 'sub')] } },
      `perl -e 'print rename("dd", "ee") ? 0 : $! + 0'; ls; cat dd/a`,
    )
    expect(stdout).toBe(`${EXDEV}dd\na\n`)
  })

  it('stays where it is, whole, when something in it cannot be moved', async () => {
    const root = place(as)
    makeTree(root, as)
    // The owner has no number in the layer's user namespace, so the file cannot be copied.
    for (const path of ['dd/sub/deep/x', 'dd/sub/other']) {
      writeFileSync(join(root, path), 'theirs\n')
      chownSync(join(root, path), 4242, 4242)
    }
    const { stdout } = await driveOne(
      { as, root },
      `{ ${list('dd')}; } > /tmp/before; perl -e 'print rename("dd", "ee") ? 0 : $! + 0, "\n"'; { ${list('dd')}; } | diff /tmp/before - && ls -A`,
    )
    expect(stdout).toBe(`${EXDEV}\n.git\ndd\n`)
  })

  it('is not renamed for a program that restricts itself', async () => {
    const root = place(as)
    makeTree(root, as)
    const script = `
      my $rules = pack 'Q', 1;
      my $fd = syscall(444, $rules, 8, 0);
      print $fd < 0 ? 'none ' : syscall(446, $fd, 0) == 0 ? 'restricted ' : 'failed ';
      print rename('dd', 'ee') ? 0 : $! + 0;`
    const { stdout } = await driveOne(
      { as, root },
      `perl -e '${script.replaceAll("'", `'\\''`)}'; perl -e 'print " ", rename("dd", "ee") ? 0 : $! + 0'`,
    )
    expect(stdout).toMatch(/^(?:restricted 18 18|none 0 2)$/)
  })
})

it('keeps owners for root, and helps no process that became another user', async () => {
  const root = place('root')
  makeTree(root, 'root')
  makeTree(root, 'root', 'theirs')
  chownSync(join(root, 'dd', 'a'), 1, 2)
  execFileSync('chown', ['-R', '-h', `${TEST_UID}:${TEST_UID}`, join(root, 'theirs')])
  chmodSync(root, 0o777)
  const before = listed(root, 'dd')
  const { stdout } = await driveOne(
    { as: 'root', root, request: { allOwners: true } },
    `mv dd ee; ${list('ee')}; setpriv --reuid ${TEST_UID} --clear-groups perl -e 'print rename("theirs", "mine") ? 0 : $! + 0'`,
  )
  expect(stdout).toBe(`${before}${EXDEV}`)
})
