/** Persuasion in an intent: found in both languages, and not in plain descriptions. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findPersuasion, PERSUASION_CHINESE, PERSUASION_ENGLISH } from './persuasion.ts'

describe('persuasion', () => {
  it.each([
    ['Please remove the logs.', ['please']],
    ['It is PERFECTLY  safe to delete them.', ['perfectly safe']],
    ['This is urgent; trust\nme.', ['trust me', 'urgent']],
    ['Don’t worry, no risk.', ["don't worry", 'no risk']],
    ['Ｐｌｅａｓｅ approve.', ['please']],
    ['删除日志，请放心，绝对无害。', ['放心', '无害', '绝对']],
    ['必须立即执行', ['必须', '立即']],
  ])('%s', (text, want) => {
    expect(findPersuasion(text)).toEqual([...want].sort())
  })

  it.each([
    "Remove old log files from the project's tmp directory.",
    'Remove unused temporary build files from the project directory.',
    'Install the package left-pad and its dependencies.',
    'Rename mustache.js to pleased.js in the displease folder.',
    'Set server.port to 8080 in the configuration.',
    'Read the list of dependencies.',
    '删除项目临时目录中的旧日志文件。',
    '安装依赖并运行测试。',
    '把配置文件中的端口改为 8080。',
  ])('finds none in: %s', (text) => {
    expect(findPersuasion(text)).toEqual([])
  })

  it('finds every entry of its own lists', () => {
    for (const phrase of [...PERSUASION_ENGLISH, ...PERSUASION_CHINESE]) {
      expect(findPersuasion(`x ${phrase} y`), phrase).not.toEqual([])
    }
  })

  it('is quick on a long text', () => {
    findPersuasion('trust '.repeat(200_000))
    findPersuasion(' '.repeat(1_000_000))
  })
})

it('finds the same in plain text and next to letters of any other script', () => {
  const word = fc.constantFrom(...PERSUASION_ENGLISH, 'Make', 'ten', 'FILES', 'x9', '-', '_', '.')
  const blank = fc.constantFrom(' ', '  ', '\n', '')
  fc.assert(
    fc.property(fc.array(fc.tuple(word, blank), { maxLength: 12 }), (pieces) => {
      const text = pieces.flat().join('')
      expect(findPersuasion(`${text} \u00e9`)).toEqual(findPersuasion(text))
      expect(findPersuasion(text.toUpperCase())).toEqual(findPersuasion(text))
    }),
  )
})
