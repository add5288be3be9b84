/** Judges the text: it has to begin with a heading. */
import { readFileSync } from 'node:fs'
import { judge } from './answer.mjs'

const input = JSON.parse(readFileSync(0, 'utf8'))
const isGood = readFileSync(input.artifact.path, 'utf8').startsWith('# ')
judge(input, isGood, isGood ? 'it has a heading' : 'begin with a heading')
