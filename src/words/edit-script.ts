/**
 * The edit of a file that a client of MCP asks for. It runs inside the sandbox: it sees only what a run
 * may see, reads the file that it writes, and its failure is on the record with its words.
 */
export const EDIT_SCRIPT = `
const fs = require('node:fs')
const [path, from, to, all] = process.argv.slice(1)
const bytes = fs.readFileSync(path)
const text = bytes.toString('utf8')
const stop = (words) => { console.error(words); process.exit(1) }
if (!bytes.equals(Buffer.from(text))) stop('the file is not UTF-8 text')
const parts = text.split(from)
if (parts.length === 1) stop('old_text is not in the file')
if (parts.length > 2 && all !== 'all') stop('old_text is in the file ' + (parts.length - 1) + ' times: name more of it, or set replace_all')
fs.writeFileSync(path, parts.join(to))
`

/** What a command edits that is such an edit, word for word; null for every other one. */
export function editOf(argv: readonly string[]) {
  const [program = '', flag, script, end, path = '', from = '', to = '', ...more] = argv
  if (flag !== '-e' || script !== EDIT_SCRIPT || end !== '--' || more.length !== 1) return null
  return { program, path, from, to }
}
