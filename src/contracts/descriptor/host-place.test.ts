/** Places of the host, and roots that are too high. */
import { describe, expect, it } from 'vitest'
import { type Glob, parseGlob } from './glob.ts'
import { hostPlace, hostRoot } from './host-place.ts'

const glob = (text: string): Glob => parseGlob(text) as Glob

describe('the host', () => {
  it.each([
    ['/proc', '/proc'],
    ['/proc/1/mem', '/proc'],
    ['/sys/x', '/sys'],
    ['/dev/shm/x', '/dev'],
    ['/boot/x', '/boot'],
    ['/d*/x', '/dev'],
    ['/*/x', '/proc'],
    ['/**/x', '/proc'],
    ['/home/ann/.writ/id', '.writ'],
    ['/home/ann/.writ', '.writ'],
    ['/home/ann/.writ/laws.yaml', null],
    ['/home/ann/.writ/rules/a.json', null],
    ['/home/ann/.writ/rules/.writ/id', '.writ'],
    ['/home/ann/.local/state/writ', '.local/state/writ'],
    ['/home/ann/proc', null],
    ['/home/ann/.local/state/other/writ', null],
    ['/home/ann/.*', null],
    ['/h*/x', null],
    ['/etc/passwd', null],
    ['/', null],
  ])('%s: %s', (text, want) => {
    expect(hostPlace(glob(text))).toBe(want)
  })

  it.each([
    ['/', '/'],
    ['/**', '/'],
    ['/home', 'a top-level directory'],
    ['/*', 'a top-level directory'],
    ['/home/**', 'a top-level directory'],
    ['/proc/x', '/proc'],
    ['/home/*', null],
    ['/home/ann', null],
  ])('the root %s: %s', (text, want) => {
    expect(hostRoot(glob(text))).toBe(want)
  })
})
