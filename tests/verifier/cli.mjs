/**
 * The independent verifier as a program:
 *
 *     node cli.mjs DIRECTORY --key NAME+ID+BASE64 [--key …] [--anchor CHECKPOINT-FILE]
 *
 * Prints { ok, anchored, size, root, problems } as JSON; exit 0 verified, 1 falsified, 2 usage.
 */
import { readFileSync } from 'node:fs'
import { argv, exit, stdout } from 'node:process'
import { verifyBundle } from './verify.mjs'

const values = (name) => argv.filter((_, at) => argv[at - 1] === name)
const [keys, [file]] = [values('--key'), values('--anchor')]
const report = verifyBundle(argv[2], { keys, anchor: file ? readFileSync(file, 'utf8') : null })
if (keys.length === 0) report.problems = ['usage: DIRECTORY --key KEY… [--anchor FILE]']
stdout.write(`${JSON.stringify(report, null, 2)}\n`)
exit(report.ok ? 0 : keys.length === 0 ? 2 : 1)
