/** The gate that the stages share: each of them has to spend ten minutes at least. */
import { readFileSync } from 'node:fs'
import { judge } from './answer.mjs'

const input = JSON.parse(readFileSync(0, 'utf8'))
const { minutes } = JSON.parse(readFileSync(`out/${input.caller}.json`, 'utf8'))
judge(input, minutes >= 10, `${minutes} of at least 10 minutes`)
