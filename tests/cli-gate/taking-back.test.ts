/** Acts taken back out of order and at the same time, with the real program. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Place } from './place.ts'

let place: Place
beforeEach(() => {
  place = new Place('back', { runs: 'warm' }).init()
})
afterEach(() => place.remove())

/** Writes a file, promoted at once; the id of the act. */
function write(text: string, name = 'f'): string {
  const report = `${place.folder}/report-${Math.random()}.json`
  const { status, err } = place.exec(
    ['--write', name, '--report', report],
    `printf ${text} > ${name}`,
  )
  expect(status, err).toBe(0)
  return place.writ(['log', '--type', 'promotion_v1', '--json']).json.facts.at(-1).record.payload
    .action_id
}

describe('an older act under newer ones', () => {
  it('is named with them, and goes together with them', () => {
    place.write('f', 'v0')
    const [a, b, c] = [write('v1'), write('v2'), write('v1')]
    const other = write('other', 'g')
    const refused = place.writ(['rollback', a])
    expect(refused.status).toBe(1)
    expect(refused.err).toMatch(/2 newer acts changed the same paths/)
    expect(refused.err).toMatch(new RegExp(`${c} .* sh -c .*v1[^]*${b} .* sh -c .*v2`))
    expect(refused.err).toContain(`writ rollback ${a} --with-later`)
    expect(place.text('f')).toBe('v1')
    const done = place.writ(['rollback', a, '--with-later', '--json'])
    expect(done.json).toMatchObject({ action_id: a, action_ids: [c, b, a], verified: true })
    expect(place.text('f')).toBe('v0')
    expect(place.writ(['undo', '--json']).json).toMatchObject({ action_id: other, verified: true })
    expect(place.has('g')).toBe(false)
  })
})

describe('an older act under newer ones, at a terminal', () => {
  it('is offered with all of them, and a no changes nothing', () => {
    place.write('f', 'v0')
    const [a, b, c] = [write('v1'), write('v2'), write('v3')]
    const asked = [{ expect: 'newer acts' }, { expect: c }, { expect: b }, { expect: '[y/N]' }]
    const no = place.person(['rollback', a], [...asked, { send: 'n\r' }])
    expect([no.failed, no.status, place.text('f')]).toEqual([null, 1, 'v3'])
    const yes = place.person(['rollback', a], [...asked, { send: 'y\r' }, { expect: 'restored' }])
    expect([yes.failed, yes.status, place.text('f')]).toEqual([null, 0, 'v0'])
  })

  it('is taken back alone if the newer ones changed other paths', () => {
    place.write('f', 'v0')
    const a = write('v1')
    write('other', 'g')
    const { status, output } = place.person(['rollback', a], [{ expect: 'restored' }])
    expect(status, output).toBe(0)
    expect([place.text('f'), place.text('g')]).toEqual(['v0', 'other'])
  })
})

describe('a file of others in a directory that the act made', () => {
  it('is refused with commands that can be pasted, and then it is taken back', () => {
    expect(place.exec(['--yes'], "mkdir 'a out'; echo 1 > 'a out/a'").status).toBe(0)
    place.write('a out/mine', 'mine')
    const refused = place.writ(['undo'])
    expect(refused.status).toBe(1)
    const commands = refused.err.match(/^ {4}\S.*$/gm) ?? []
    expect(commands).toHaveLength(1)
    execFileSync('sh', ['-c', commands.join('\n')])
    const [, again = ''] = /then `writ ([^`]+)`/.exec(refused.err) ?? []
    const done = place.writ(again.split(' '))
    expect(done.status, done.err).toBe(0)
    expect([place.has('a out'), place.text('mine.mine')]).toEqual([false, 'mine'])
  })

  it('that changed a file of the act is moved aside with the directory', () => {
    expect(place.exec(['--yes'], 'mkdir out; echo 1 > out/a').status).toBe(0)
    place.write('out/a', 'mine')
    const [command = ''] = place.writ(['undo']).err.match(/^ {4}\S.*$/gm) ?? []
    execFileSync('sh', ['-c', command])
    const done = place.writ(['undo'])
    expect(done.status, done.err).toBe(0)
    expect([place.has('out'), place.text('out.mine/a')]).toEqual([false, 'mine'])
  })
})

describe('a command in a message', () => {
  it('keeps its quotes', () => {
    const script = "echo 'v`1' >> hist"
    const quoted = `sh -c '${script.replaceAll("'", `'\\''`)}'`
    expect(place.exec(['--yes'], script).status).toBe(0)
    expect(place.exec(['--yes'], `${script}; true`).status).toBe(0)
    const [first] = place.writ(['log', '--type', 'promotion_v1', '--json']).json.facts
    const newer = place.writ(['rollback', first.record.payload.action_id])
    expect(newer.err).toContain(`${quoted.slice(0, -1)}; true'`)
    place.exec([], script)
    const [{ id }] = place.pending()
    expect(place.writ(['deny', id]).status).toBe(0)
    expect(place.writ(['approve', id, '--yes']).err).toContain(`denied \`${quoted}\``)
  })
})

describe('two undos at once', () => {
  it('take one act back, and the second says so', async () => {
    place.write('f', 'v0')
    write('v1')
    write('v2')
    const ended = ['undo', 'undo'].map(
      (word) =>
        new Promise<{ readonly status: number | null; readonly err: string }>((resolved) => {
          const child = place.start([word])
          let err = ''
          child.stderr?.on('data', (piece: Buffer) => {
            err += piece.toString('utf8')
          })
          child.on('close', (status) => resolved({ status, err }))
        }),
    )
    const both = await Promise.all(ended)
    const failed = both.filter(({ status }) => status !== 0)
    // The second may come so late that it takes the act before back.
    expect(['v0', 'v1']).toContain(place.text('f'))
    expect(failed).toHaveLength(place.text('f') === 'v0' ? 0 : 1)
    for (const { err } of failed) expect(err).toMatch(/another command took .* back at /)
  })
})

describe('what others did after an act', () => {
  it('is no conflict where the path is already as it was before', () => {
    place.write('page', 'old\n')
    place.write('gone', 'back\n')
    const script = 'echo a > one; echo b > two; mkdir d; echo c > d/e; echo new > page; rm gone'
    expect(place.exec(['--yes'], script).status).toBe(0)
    rmSync(`${place.project}/one`)
    rmSync(`${place.project}/d`, { recursive: true })
    place.write('page', 'old\n')
    place.write('gone', 'back\n')
    const undone = place.writ(['undo', '--json'])
    expect(undone.json, undone.err).toMatchObject({
      restored: [`${place.project}/two`],
      verified: true,
    })
    expect([place.has('two'), place.text('page'), place.text('gone')]).toEqual([
      false,
      'old\n',
      'back\n',
    ])
    expect(place.writ(['undo', '--json']).json.error.code).toBe('rollback.nothing')
  })

  it('is no conflict when all of it is gone already', () => {
    expect(place.exec(['--yes'], 'echo a > one').status).toBe(0)
    rmSync(`${place.project}/one`)
    expect(place.writ(['undo', '--json']).json).toMatchObject({ restored: [], verified: true })
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
  })

  it('an empty directory makes way for the one that comes back', () => {
    place.write('rules/inner/law', 'text\n')
    expect(place.exec(['--yes'], 'rm -r rules').status).toBe(0)
    mkdirSync(`${place.project}/rules`)
    expect(place.writ(['undo', '--dry-run']).status).toBe(0)
    expect(place.has('rules/inner')).toBe(false)
    const undone = place.writ(['undo', '--json'])
    expect(undone.json, undone.err).toMatchObject({ verified: true })
    expect(place.text('rules/inner/law')).toBe('text\n')
  })

  it('is a conflict otherwise, with commands that lead out of it', () => {
    place.write('page', 'old\n')
    expect(place.exec(['--yes'], 'echo new > page; echo more > other').status).toBe(0)
    place.write('page', 'mine\n')
    place.write('other', 'mine too\n')
    const refused = place.writ(['undo'])
    expect([refused.status, place.text('page')]).toEqual([1, 'mine\n'])
    const commands = refused.err.split('\n').filter((line) => /^ *mv -n /.test(line))
    expect(commands).toHaveLength(2)
    const { error } = place.writ(['undo', '--json']).json
    expect(error.paths).toEqual([`${place.project}/other`, `${place.project}/page`])
    for (const command of commands) execFileSync('sh', ['-c', command])
    expect(place.writ(['undo']).status).toBe(0)
    expect([place.text('page'), place.text('page.mine')]).toEqual(['old\n', 'mine\n'])
    expect([place.has('other'), place.text('other.mine')]).toEqual([false, 'mine too\n'])
  })
})
