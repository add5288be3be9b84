/** The small texts between writ and the machine: read and written without anything getting lost. */
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { quote } from '../machine/programs.ts'
import { parseOwnGroups } from './kernel/cgroup.ts'
import { isWithin, parseMounts } from './kernel/mount-table.ts'
import { mountLines } from './layers/mount-lines.ts'
import { Lines } from './pipes/lines.ts'
import { kernelIsAtLeast } from './preparation/sandbox-resources.ts'
import { processLimits, runScripts, sizeLine } from './processes/run-script.ts'

describe('mounts', () => {
  it('are read with their escapes', () => {
    const text = [
      '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
      '40 27 0:30 / /mnt/a\\040b\\011c\\134d rw shared:1 - tmpfs none rw',
      '',
    ].join('\n')
    expect(parseMounts(text)).toEqual([
      { point: '/', filesystem: 'ext4' },
      { point: '/mnt/a b\tc\\d', filesystem: 'tmpfs' },
    ])
  })

  it('lie within by whole names only', () => {
    expect(isWithin('/a/b', '/a')).toBe(true)
    expect(isWithin('/a', '/a')).toBe(true)
    expect(isWithin('/ab', '/a')).toBe(false)
    expect(isWithin('/x', '/')).toBe(true)
  })

  it('come in an order in which no mask hides what is still needed', () => {
    const lines = mountLines({
      directory: '/r',
      roots: ['/home/u', '/w'],
      numbers: [],
      isKept: false,
      layers: [0, 0],
      view: {
        covered: ['/usr', '/a,b'],
        bound: ['/sys'],
        files: ['/f g'],
        made: ['/'],
        links: [],
        emptied: [],
        unseen: [],
      },
      scratch: 1,
      masks: [
        { path: '/home/u/.ssh', kind: 'directory' },
        { path: '/w/a b\nc', kind: 'file' },
        { path: '/var/lib', kind: 'directory' },
      ],
      sealed: ['/w/a b', '/w/a b/d'],
      isClosed: false,
    })
    expect(lines.split('\n')).toEqual([
      'writ /r/v/o0 overlay userxattr,volatile,lowerdir=/r/v/l0,upperdir=/r/t/u0,workdir=/r/t/w0 0 0',
      'writ /r/v/o1 overlay userxattr,volatile,lowerdir=/r/v/l1,upperdir=/r/t/u1,workdir=/r/t/w1 0 0',
      'writ /r/v/m/usr overlay ro,X-writ.may-fail,lowerdir=/r/v/c0:/r/v/n 0 0',
      'writ /r/v/m/a,b overlay ro,X-writ.may-fail,lowerdir=/r/v/c1:/r/v/n 0 0',
      '/r/v/c2 /r/v/m/sys none rbind 0 0',
      '/r/v/c3 /r/v/m/f\\040g none rbind 0 0',
      '/r/t/p0 /r/v/p0 none bind 0 0',
      '/r /r/v/r none bind,ro 0 0',
      'writ /r/v/o0/.ssh tmpfs ro,size=4k,nr_inodes=2,mode=555 0 0',
      '/r/v/empty /r/v/o1/a\\040b\\012c none bind,ro 0 0',
      'writ /r/v/m/var/lib tmpfs ro,size=4k,nr_inodes=2,mode=555 0 0',
      '/r/v/o1 /r/v/s1 none rbind 0 0',
      '/r/v/s1/a\\040b /r/v/s1/a\\040b none rbind,ro,X-writ.runs 0 0',
      '/r/v/s1/a\\040b/d /r/v/s1/a\\040b/d none rbind,ro,X-writ.runs 0 0',
      '',
    ])
  })
})

describe('groups', () => {
  it('are read by controller', () => {
    const groups = parseOwnGroups('4:memory:/a/b\n3:cpu,cpuacct:/\n0::/user.slice\n')
    expect([...groups]).toEqual([
      ['memory', '/a/b'],
      ['cpu', '/'],
      ['cpuacct', '/'],
      ['', '/user.slice'],
    ])
  })
})

describe('scripts', () => {
  const caps = { cpuMs: 1500, memoryMb: 1, diskMb: 2, durationMs: 1, processes: 5 }
  const limits = processLimits(caps, false, false)

  it('quote every word', () => {
    expect(quote('plain-1.0/x')).toBe('plain-1.0/x')
    expect(quote("it's")).toBe(`'it'\\''s'`)
    expect(quote('')).toBe("''")
    expect(quote('~')).toBe("'~'")
  })

  it('limit, enter, clean up and become the command', () => {
    const said = { argv: ['ls', '-l'] as const, cwd: '/w', env: { A: 'b c' }, terminal: null }
    const { own, around } = runScripts(said, limits)
    const lines = own.split('\n')
    expect(around).toBe('')
    expect(lines).toContain('ulimit -c 0; ulimit -n 4096; ulimit -t 3')
    expect(lines).toContain('ulimit -f 4096')
    expect(lines).toContain(`export A='b c'`)
    expect(lines.slice(-2)).toEqual(['exec ls -l', ''])
  })

  it('give names that a shell cannot export to `env`', () => {
    const said = { argv: ['x'] as const, cwd: '/', env: { 'a-b': '1', IFS: 'x' }, terminal: null }
    expect(runScripts(said, limits).own).toContain('exec /usr/bin/env -i a-b=1 IFS=x x')
  })

  it('leave nothing to the shell that is ready where something is next to the command', () => {
    const said = { argv: ['x'] as const, cwd: '/', env: {} }
    const terminal = { rows: 24, columns: 80, onResize: () => undefined }
    for (const one of [
      runScripts({ ...said, terminal }, limits),
      runScripts(
        { ...said, terminal: null, channel: { onLine: async () => '', tooLong: '' } },
        limits,
      ),
    ]) {
      expect(one.own).toBe('')
      expect(one.around).toContain('exec ')
    }
  })

  it('take sizes of terminals as they can be', () => {
    expect(sizeLine({ rows: 24, columns: 80 })).toBe('rows 24 cols 80')
    expect(sizeLine({ rows: Number.NaN, columns: 1e9 })).toBe('rows 1 cols 9999')
  })
})

describe('lines', () => {
  it('come whole, one after the other, and end', async () => {
    const source = new PassThrough()
    const lines = new Lines(source)
    source.write('on')
    source.write('e\ntwo\nthr')
    expect([await lines.next(), await lines.next()]).toEqual(['one', 'two'])
    expect(lines.rest()).toBe('thr')
    source.destroy()
    expect(await lines.next()).toBe(null)
  })

  it('that were written before the end are not lost to it', async () => {
    const source = new PassThrough()
    const lines = new Lines(source)
    const waiting = lines.nextOr(Promise.resolve())
    source.write('last\n')
    expect(await waiting).toBe('last')
    expect(await lines.nextOr(Promise.resolve())).toBe(null)
  })
})

describe('kernels', () => {
  it('are compared by numbers', () => {
    expect(kernelIsAtLeast(6, 6, '6.18.44-fc')).toBe(true)
    expect(kernelIsAtLeast(6, 6, '6.6.0')).toBe(true)
    expect(kernelIsAtLeast(6, 6, '6.1.0-18-amd64')).toBe(false)
    expect(kernelIsAtLeast(6, 6, '5.15.0')).toBe(false)
  })
})
