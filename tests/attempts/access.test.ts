/** Bans bind real processes (F-5): tried from inside, by every way around that is known. */
import { chmodSync, chownSync, linkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground, type StepOrder } from './steps.ts'

/** Prints what each line of shell came to: `ok`, or the last word of the complaint. */
function tried(...lines: readonly string[]): string {
  const each = lines.map(
    (line, index) =>
      `( ${line} ) >o 2>e && echo "${index} ok $(cat o)" || echo "${index} $(tail -n1 e)"`,
  )
  return ['cd /tmp', ...each].join('\n')
}

function attempt(begin: Omit<Extract<StepOrder, { do: 'begin' }>, 'do' | 'name'>, command: string) {
  return [
    { do: 'begin', name: 'one', ...begin },
    { do: 'run', name: 'one', command },
    { do: 'finish', name: 'one' },
  ] as const
}

describe.each(WHO)('as %s', (who) => {
  it('what may not be read cannot be opened, listed, linked, moved or reached otherwise', async () => {
    const ground = new Ground(who)
    const { project } = ground
    ground.write('open.txt', 'open\n')
    ground.write('secret.txt', 'S3CRET\n')
    ground.write('vault/key.txt', 'S3CRET\n')
    ground.write('outer/inner/deep.txt', 'S3CRET\n')
    const hidden = ['secret.txt', 'vault', 'outer/inner/deep.txt', 'not/there']
    const script = tried(
      `cat ${project}/open.txt`,
      `cat ${project}/secret.txt`,
      `cat ${project}/vault/key.txt`,
      `ls ${project}/vault`,
      `ln ${project}/secret.txt ${project}/other`,
      `mv ${project}/secret.txt ${project}/other`,
      `cp -r ${project}/vault ${project}/copy`,
      `cat /proc/self/root${project}/secret.txt`,
      `cat /proc/1/root${project}/secret.txt`,
      `ln -s ${project}/secret.txt /tmp/link && cat /tmp/link`,
      `mv ${project}/outer ${project}/moved; cat ${project}/moved/inner/deep.txt`,
      `rm -f ${project}/secret.txt`,
      `chmod 644 ${project}/secret.txt`,
      `umount ${project}/secret.txt`,
      `python3 -c "import os; fd=os.open('${project}', os.O_RDONLY); print(os.read(os.open('secret.txt', os.O_RDONLY, dir_fd=fd), 9))"`,
    )
    const done = await ground.steps(...attempt({ hidden }, script))
    const { stdout } = done[1]?.ok ?? {}
    expect(stdout).not.toContain('S3CRET')
    const lines: string[] = stdout.trim().split('\n')
    expect(lines[0]).toBe('0 ok open')
    for (const [index, line] of lines.entries()) {
      if (index === 0) continue
      expect(line).toMatch(
        /Permission denied|Read-only file system|busy|cross-device|not permitted|No such file|must be superuser/i,
      )
    }
    expect(lines[1]).toContain('Permission denied')
    expect(lines[3]).toContain('Permission denied')
    expect(ground.text('secret.txt')).toBe('S3CRET\n')
  })

  it('what may not be written is read, and refuses every change', async () => {
    const ground = new Ground(who)
    const { project } = ground
    ground.write('fixed.txt', 'fixed\n')
    ground.write('shelf/book.txt', 'book\n')
    ground.write('outer/inner/deep.txt', 'deep\n')
    ground.write('free.txt', 'free\n')
    ground.write('shelf/tool', '#!/bin/sh\necho run\n')
    chmodSync(join(project, 'shelf/tool'), 0o755)
    const readOnly = ['fixed.txt', 'shelf', 'outer/inner']
    const script = tried(
      `cat ${project}/fixed.txt ${project}/shelf/book.txt; ${project}/shelf/tool`,
      `echo x > ${project}/fixed.txt`,
      `echo x > ${project}/shelf/book.txt`,
      `echo x > ${project}/shelf/new.txt`,
      `rm ${project}/shelf/book.txt`,
      `rm -r ${project}/shelf`,
      `mv ${project}/fixed.txt ${project}/other`,
      `mv ${project}/free.txt ${project}/fixed.txt`,
      `ln ${project}/shelf/book.txt ${project}/other`,
      `ln -s ${project}/fixed.txt /tmp/l && echo x > /tmp/l`,
      `echo x > /proc/self/root${project}/fixed.txt`,
      `chmod 777 ${project}/fixed.txt`,
      `touch -d 2001-01-01 ${project}/shelf/book.txt`,
      `mv ${project}/outer ${project}/moved`,
      `python3 -c "import os; os.rename('${project}/outer', '${project}/moved')"`,
      `mount -o remount,rw ${project}/shelf 2>&1 | head -n1 >&2; false`,
      `python3 -c "import os; os.truncate('${project}/fixed.txt', 0)"`,
    )
    const done = await ground.steps(
      ...attempt({ readOnly }, `${script}\necho y > ${project}/free.txt`),
    )
    const lines: string[] = done[1]?.ok.stdout.trim().split('\n')
    expect(lines.slice(0, 3)).toEqual(['0 ok fixed', 'book', 'run'])
    for (const line of lines.slice(3)) {
      expect(line).toMatch(
        /Read-only file system|busy|cross-device|not permitted|superuser|permission denied/i,
      )
    }
    expect(lines[3]).toContain('Read-only file system')
    // A copy elsewhere is the participant's own file; the sealed places are unchanged.
    const changed = done[2]?.ok.result.diff
    const paths = [...changed.modified, ...changed.deleted].map(
      ({ path }: { path: string }) => path,
    )
    expect(paths).toEqual([`${project}/free.txt`])
  })

  it('a path that must not be written and is not there yet blocks what made it', async () => {
    const ground = new Ground(who)
    const done = await ground.steps(
      ...attempt({ readOnly: ['later/on.txt'] }, 'mkdir later; echo x > later/on.txt'),
      { do: 'promote', name: 'one' },
    )
    expect(done[2]?.ok.decision).toMatchObject({ decision: 'BLOCK', code: 'flow.access_denied' })
    expect(done[3]?.ok.promoted).toBe(false)
    expect(ground.text('later/on.txt')).toBe(null)
  })

  it('the whole workspace can be unwritable, and the host still leaves its artifact', async () => {
    const ground = new Ground(who)
    ground.write('a.txt', 'a\n')
    const done = await ground.steps(
      { do: 'begin', name: 'one', readOnly: ['.'], writes: ['artifacts/**'] },
      { do: 'run', name: 'one', command: 'cat a.txt; echo x > b.txt; echo $?' },
      { do: 'write', name: 'one', path: 'artifacts/review/1/answer.json', text: '{}' },
      { do: 'read', name: 'one', path: 'artifacts/review/1/answer.json' },
      { do: 'finish', name: 'one' },
    )
    expect(done[1]?.ok.stdout).toBe('a\n2\n')
    expect(done[3]?.ok).toBe('{}')
    expect(done[4]?.ok.decision).toMatchObject({ decision: 'PROMOTE' })
    expect(done[4]?.ok.result.diff.counts).toEqual({ added: 4, modified: 0, deleted: 0 })
  })

  it('a ban holds for what only a base has', async () => {
    const ground = new Ground(who)
    ground.write('a.txt', 'a\n')
    const script = 'cat new/secret.txt; echo x > new/fixed.txt; cat new/fixed.txt'
    const done = await ground.steps(
      ...attempt({}, 'mkdir new; echo S3CRET > new/secret.txt; echo f > new/fixed.txt'),
      {
        do: 'begin',
        name: 'two',
        bases: ['one'],
        hidden: ['new/secret.txt'],
        readOnly: ['new/fixed.txt'],
      },
      { do: 'run', name: 'two', command: script },
      { do: 'finish', name: 'two' },
    )
    expect(done[4]?.ok.stdout).toBe('f\n')
    expect(done[4]?.ok.stderr).toMatch(/Permission denied[\s\S]*Read-only file system/)
  })

  it('links of the workspace lead the host nowhere', async () => {
    const ground = new Ground(who)
    ground.write('a.txt', 'a\n')
    linkSync(`${ground.project}/a.txt`, `${ground.project}/twin.txt`)
    const done = await ground.steps(
      { do: 'begin', name: 'one' },
      {
        do: 'run',
        name: 'one',
        command: 'ln -s /etc/passwd link; ln -s /etc dir; ln -s /tmp out; mkfifo pipe',
      },
      { do: 'read', name: 'one', path: 'link' },
      { do: 'read', name: 'one', path: 'dir/passwd' },
      { do: 'read', name: 'one', path: 'pipe' },
      { do: 'read', name: 'one', path: 'twin.txt' },
      { do: 'write', name: 'one', path: 'out/x', text: 'x' },
      { do: 'write', name: 'one', path: 'link', text: 'x' },
      { do: 'abandon', name: 'one' },
    )
    expect(done.slice(2, 6).map(({ ok }) => ok)).toEqual([null, null, null, 'a\n'])
    expect(done.slice(6, 8).map(({ failure }) => failure?.code)).toEqual([
      'diff.unsupported',
      'diff.unsupported',
    ])
  })

  it('refused accesses are reported one by one where a caller asks for it', async () => {
    const ground = new Ground(who)
    const { project } = ground
    ground.write('secret.txt', 'S3CRET\n')
    ground.write('fixed/a.txt', 'a\n')
    ground.write("odd 'name\n.txt", 'x\n')
    const script = [
      'cat secret.txt; echo x > fixed/a.txt; cd fixed; rm a.txt; cat ../secret.txt',
      `cat "../odd 'name\n.txt"; cat /etc/shadow; mv a.txt b.txt`,
    ].join('\n')
    const hidden = ['secret.txt', "odd 'name\n.txt"]
    const done = await ground.steps(
      ...attempt({ hidden, readOnly: ['fixed'], isTraced: true }, script),
    )
    const told = done[2]?.ok.refusedAccesses.map(
      ({ path, mode }: { path: string; mode: string }) => `${mode} ${path}`,
    )
    expect(told).toEqual(
      expect.arrayContaining([
        `read ${project}/secret.txt`,
        `write ${project}/fixed/a.txt`,
        `read ${project}/odd 'name\n.txt`,
        `write ${project}/fixed/b.txt`,
      ]),
    )
    expect(told.some((line: string) => line.includes('/etc/shadow'))).toBe(false)
  })
})

describe('root with a ban', () => {
  it('keeps its rights over files of others, and opens nothing that is banned', async () => {
    const ground = new Ground('root')
    const { project } = ground
    ground.write('of-others.txt', 'one\n')
    chownSync(join(project, 'of-others.txt'), 1234, 1234)
    chmodSync(join(project, 'of-others.txt'), 0o600)
    ground.write('secret.txt', 'S3CRET\n')
    ground.write('vault/key.txt', 'S3CRET\n')
    const script = tried(
      `echo two >> ${project}/of-others.txt; cat ${project}/of-others.txt`,
      `cat ${project}/secret.txt`,
      `ls ${project}/vault`,
      `chown 0 ${project}/vault`,
      `setpriv --reuid "$(stat -c %u ${project}/secret.txt)" cat ${project}/secret.txt`,
    )
    const done = await ground.steps(...attempt({ hidden: ['secret.txt', 'vault'] }, script))
    const { stdout } = done[1]?.ok ?? {}
    expect(stdout).not.toContain('S3CRET')
    const [others, ...banned]: string[] = stdout.trim().split(/\n(?=\d )/)
    expect(others).toBe('0 ok one\ntwo')
    for (const line of banned) expect(line).toMatch(/Permission denied|Read-only file system/)
    expect(banned).toHaveLength(4)
  })
})
