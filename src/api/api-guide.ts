/** What a program that knows nothing but the OpenAPI document needs besides the schemas. */
import { type Proposal, plainDescriptor } from '../contracts/index.ts'

export const GUIDE = `No action without a writ.

A caller sends the token of one principal (\`Authorization: Bearer …\`; a person makes it: \`writ token create\`).

**Act.** \`proposeAction\` answers 200 when the action was decided, else 202 with a \`Location\`; look there (\`showAction\`), or wait for an event. Actors never approve: a status \`waiting\` waits for a person.

**Events.** \`followEvents\` is a stream of server-sent events. \`data\` of each is a \`fact\` (in \`components.schemas\`), \`event\` its record type, \`id\` a cursor for \`Last-Event-ID\`. \`promotion_v1\` says that an action became real, \`decision_v1\` what was decided; \`record.payload.action_id\` names the action. Open it before you propose, or send a cursor, or list facts (\`listFacts\`): without a cursor it begins with the next fact.

**Proofs.** A stream is a tree by RFC 6962 (SHA-256) over entries: an entry is the canonical JSON of a fact (RFC 8785), in UTF-8. \`proveFact\` answers the leaf \`SHA-256(0x00 ‖ entry)\`, the audit path from the leaf up (RFC 9162, 2.1.3.2), the root, and the checkpoint that has it (C2SP tlog-checkpoint, a signed note). The public keys are those of \`writ ledger key\`: get them from the person who keeps the home. The bytes of an entry come from \`readTile\`; a fact of \`listFacts\` and of events is the same fact, with its payload also where the entry names only the digest of a long one (\`payload_ref\`).

**Problems** are RFC 9457 with \`code\`, \`detail\`, often \`hint\`, and \`violations\` with the exact places.`

/** By operation; the summary says what it does, this how to use it. */
export const USES: Readonly<Record<string, string>> = {
  proposeAction:
    'Paths are absolute. `descriptor.action_id` is an id of the caller’s own, which names the action everywhere, and `created_at` is now. A `FILE_WRITE` has exactly one of `content` and `content_base64`.',
  followEvents:
    'Each event has `id` (a cursor), `event` (the type of the record) and `data` (a `fact` as JSON on one line). Comments (`: alive`) come every 15 seconds.',
  proveFact: '`path` holds the audit path, from the leaf up.',
  proveKeys:
    '`changes` are the facts that begin or change the keys, as texts, each with its path to the root of `head` and to that of the first kept checkpoint that has it. A key counts once a key that counted before has signed such a checkpoint.',
  readTile:
    '`tile` is the part of a C2SP tlog-tiles path behind `tile/`; its slashes may be escaped. `entries/N` is the bundle of the entries 256·N to 256·N+255: each is its length in two bytes, the most significant first, and its bytes. N has at least three digits (`000`), from 1,000 on in groups (`x001/234`). A bundle that is not full is `entries/N.p/W` with its W entries.',
}

/** A file is written: the least that a proposal holds. */
export function exampleProposal(): Proposal {
  const path = '/home/ann/shop/note.txt'
  const descriptor = plainDescriptor({
    actionId: '0b1f9a52-6a0c-4d0e-9a53-6c1b7f0f8d11',
    createdAt: '2026-11-18T08:00:00.000Z',
    says: 'Write a note.',
    type: 'FILE_WRITE',
    scope: ['/home/ann/shop'],
    write: [path],
    remove: [],
    hosts: [],
    resources: {
      max_cpu_ms: 60_000,
      max_memory_mb: 512,
      max_disk_mb: 64,
      max_duration_ms: 60_000,
    },
    isDeclaredByApproval: false,
  })
  return { descriptor, operation: { type: 'FILE_WRITE', path, content: 'hello\n' } }
}
