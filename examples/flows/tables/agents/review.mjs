/**
 * The validator: judges the notes, and is the independent voice for the claim C-EXT-023. Its program lies
 * in a directory of its own, which no participant of the run can change.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const input = JSON.parse(readFileSync(0, 'utf8'))
const notes = readFileSync('out/notes.md')
const isGood = notes.includes('# 调研 Notes')

process.stdout.write(
  JSON.stringify({
    review_id: input.review_id,
    artifact_digest: input.artifact.digest,
    total_score: isGood ? 95 : 40,
    action_required: isGood ? 'APPROVE' : 'MODIFY',
    summary: isGood ? 'the notes are there' : 'the notes have no heading',
    breakdown: [],
    suggestions: [],
    evidence: [
      {
        evidence_id: 'EVID-112',
        claim_id: 'C-EXT-023',
        digest: `sha256:${createHash('sha256').update(notes).digest('hex')}`,
        supports: isGood,
      },
    ],
  }),
)
