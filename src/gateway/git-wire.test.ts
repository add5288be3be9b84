/** Packet lines of a push, read and written. */
import { describe, expect, it } from 'vitest'
import { advertise, NO_OBJECT, readCommands, report, wordsPacket } from './git-wire.ts'

const ID = 'a'.repeat(40)

function packet(text: string): string {
  return `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
}

describe('a push', () => {
  const whole = Buffer.from(
    `${packet(`${NO_OBJECT} ${ID} refs/heads/main\0 report-status`)}${packet(`${ID} ${NO_OBJECT} refs/tags/v1`)}0000PACK`,
  )

  it('is read when all of its commands have come', () => {
    for (let bytes = 0; bytes < whole.length - 4; bytes++) {
      expect(readCommands(whole.subarray(0, bytes))).toBeNull()
    }
    expect(readCommands(whole)).toEqual({
      commands: [
        { ref: 'refs/heads/main', before: NO_OBJECT, after: ID },
        { ref: 'refs/tags/v1', before: ID, after: NO_OBJECT },
      ],
      end: whole.length - 4,
    })
  })

  it.each([
    'zzzz',
    packet('push'),
    packet(`${ID} ${ID} HEAD`),
    packet(`${ID} ${ID} refs/heads/a b`),
    packet(`${ID} ${ID} refs/heads/a:b`),
    '0003',
  ])('is refused as %j', (text) => {
    expect(() => readCommands(Buffer.from(`${text}0000`))).toThrow(/push/)
  })
})

describe('an answer', () => {
  it('names what the server has, or that it has nothing', () => {
    expect(advertise([{ ref: 'refs/heads/main', id: ID }])).toMatch(
      new RegExp(
        `^001f# service=git-receive-pack\\n0000[0-9a-f]{4}${ID} refs/heads/main\0.*\\n0000$`,
      ),
    )
    expect(advertise([])).toContain(`${NO_OBJECT} capabilities^{}\0`)
  })

  it('says of each reference what became of it', () => {
    const commands = [{ ref: 'refs/heads/main', before: NO_OBJECT, after: ID }]
    expect(report(commands, null).toString('latin1')).toBe(
      '002e\u0001000eunpack ok\n0017ok refs/heads/main\n00000000',
    )
    expect(report(commands, 'not sent').toString('latin1')).toContain('ng refs/heads/main not sent')
    expect(wordsPacket('hi').toString('latin1')).toBe('0008\u0002hi\n')
  })
})
