/**
 * Words of an intent summary that argue instead of describing (seed 003 §4.2). A list can err, so
 * a hit never makes a descriptor invalid: the gate asks a human (`confirm.intent`).
 *
 * The list is data. English entries match whole words in any case; a space matches any run of white
 * space. Chinese has no word boundaries, so its entries match anywhere.
 */

export const PERSUASION_ENGLISH: readonly string[] = [
  'absolutely',
  'as you asked',
  'authorised',
  'authorized',
  'because',
  'believe me',
  'certainly',
  'clearly',
  'completely safe',
  'definitely',
  'do not worry',
  "don't worry",
  'essential',
  'feel free',
  'guarantee',
  'guaranteed',
  'harmless',
  'has been approved',
  'highly recommend',
  'highly recommended',
  'i need',
  'i promise',
  'immediately',
  'important',
  'justified',
  'kindly',
  'low risk',
  'must',
  'necessary',
  'no need to',
  'no risk',
  'nothing can go wrong',
  'obviously',
  'of course',
  'perfectly safe',
  'please',
  'pre-approved',
  'risk-free',
  'safe to',
  'should be fine',
  'simply approve',
  'strongly recommend',
  'the user agreed',
  'the user approved',
  'therefore',
  'totally safe',
  'trust me',
  'urgent',
  'urgently',
  'we need',
  'without any risk',
  'worth it',
  'you can trust',
  'you should',
]

export const PERSUASION_CHINESE: readonly string[] = [
  '不会有问题',
  '不用担心',
  '保证',
  '务必',
  '因为',
  '完全安全',
  '尽快',
  '已批准',
  '已授权',
  '已经同意',
  '建议批准',
  '强烈建议',
  '必要',
  '必须',
  '所以',
  '放心',
  '无害',
  '无风险',
  '显然',
  '没有风险',
  '用户同意',
  '立即',
  '立刻',
  '紧急',
  '绝对',
  '肯定',
  '请允许',
  '请批准',
  '请同意',
  '重要',
  '马上',
  '相信我',
  '毫无疑问',
  '值得',
]

/** No letter or digit may touch an entry. ASCII text avoids the slow set-up of Unicode tables. */
const PLAIN = { edge: 'a-z0-9', flags: 'gi' }
const ANY = { edge: '\\p{L}\\p{N}', flags: 'giu' }
const BEYOND_ASCII = /[^ -~\s]/

const CHINESE = new RegExp(longestFirst(PERSUASION_CHINESE).join('|'), 'gu')

function longestFirst(phrases: readonly string[]): readonly string[] {
  return [...phrases].sort((left, right) => right.length - left.length)
}

/** The entries of the list that a text holds, each once, sorted. */
export function findPersuasion(text: string): readonly string[] {
  const isAscii = !BEYOND_ASCII.test(text)
  // Full-width letters and curly apostrophes are the same words.
  const plain = isAscii ? text : text.normalize('NFKC').replaceAll('\u2019', "'")
  const found = new Set<string>()
  if (isAscii && !mayArgue(text)) return []
  for (const [phrase] of plain.matchAll(englishIn(isAscii ? PLAIN : ANY))) {
    found.add(phrase.toLowerCase().replace(/\s+/g, ' '))
  }
  if (!isAscii) for (const [phrase] of plain.matchAll(CHINESE)) found.add(phrase)
  return [...found].sort()
}

/** Returns whether an ASCII text has every word of an entry. Most have not, and need no expression. */
function mayArgue(text: string): boolean {
  const words = new Set(wordsOf(text.toLowerCase()))
  return PERSUASION_ENGLISH.some((phrase) => wordsOf(phrase).every((word) => words.has(word)))
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[^a-z0-9]+/)
}

const english = new Map<string, RegExp>()

/** Made when it is first needed. */
function englishIn({ edge, flags }: typeof PLAIN): RegExp {
  const known = english.get(flags)
  if (known !== undefined) return known
  const phrases = longestFirst(PERSUASION_ENGLISH).map((phrase) => phrase.replaceAll(' ', '\\s+'))
  const made = new RegExp(`(?<![${edge}])(?:${phrases.join('|')})(?![${edge}])`, flags)
  english.set(flags, made)
  return made
}
