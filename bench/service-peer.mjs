/**
 * The peer of the service: a bare Fastify that parses the same bodies and puts each into SQLite
 * durably, and that answers a page of rows with the same texts as the service's facts (`POST /page` takes
 * them over). A process of its own; prints its address.
 */
import Fastify from 'fastify'
import { connect } from '../dist/store/index.js'

const [file] = process.argv.slice(2)
const database = connect(file, 'create')
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
for (const table of ['fact', 'page'])
  database.exec(`CREATE TABLE ${table} (seq INTEGER PRIMARY KEY, text TEXT NOT NULL)`)
const insert = database.prepare('INSERT INTO fact (text) VALUES (?) RETURNING seq')
const addRow = database.prepare('INSERT INTO page (text) VALUES (?) RETURNING seq')
const page = database.prepare('SELECT text FROM page ORDER BY seq LIMIT ?')

const app = Fastify({ logger: false })
app.post('/facts', async ({ body }) => {
  const { seq } = insert.get(JSON.stringify(body))
  return { seq }
})
app.post('/page', async ({ body }) => {
  for (const fact of body.facts) addRow.get(JSON.stringify(fact))
  return { rows: body.facts.length }
})
app.get('/facts', async ({ query }) => ({
  facts: page.all(Number(query.limit)).map(({ text }) => JSON.parse(text)),
  next: 0,
}))
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
