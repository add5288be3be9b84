/**
 * Facts as events of the Open Cybersecurity Schema Framework 1.7: each fact is an API Activity (6003) of
 * its actor, and each path that a promotion changed a File System Activity (1001). Where the gate let an
 * act through or stopped it, the profile `security_control` says which.
 */
import { basename } from 'node:path'
import { VERSION } from '../base/index.ts'
import { type Change, displayOfRaw } from '../gate/index.ts'
import type { ExportedEvent } from './event.ts'

type OcsfEvent = Readonly<Record<string, unknown>>

const OCSF_VERSION = '1.7.0'
const [CREATE, UPDATE, DELETE, OTHER] = [1, 3, 4, 99]
const [INFORMATIONAL, MEDIUM] = [1, 3]
const [ALLOWED, DENIED] = [1, 2]
const [SUCCESS, FAILURE] = [1, 2]
/** User, service account, other. */
const USER_TYPES = { human: 1, ai: 99, script: 4, device: 99 } as const
const FILE_TYPES = { file: 1, directory: 2, symlink: 7, fifo: 6, socket: 5, device: 3 } as const

/** What the gate did about an act, by what the fact says; null for facts that settle nothing. */
function actionOf({ details }: ExportedEvent): number | null {
  if (details['decision'] === 'BLOCK' || details['answer'] === 'DENIED') return DENIED
  return details['status'] === 'APPLIED' || details['answer'] === 'APPROVED' ? ALLOWED : null
}

function shared(event: ExportedEvent, home: string, classUid: number, activity: number) {
  const { id, by, at, seq, stream, leaf, action_id } = event
  const action = actionOf(event)
  return {
    class_uid: classUid,
    category_uid: Math.floor(classUid / 1000),
    activity_id: activity,
    type_uid: classUid * 100 + activity,
    time: Date.parse(at),
    severity_id: action === DENIED ? MEDIUM : INFORMATIONAL,
    status_id: event.details['execution_status'] === 'FAILURE' ? FAILURE : SUCCESS,
    ...(action === null ? {} : { action_id: action }),
    metadata: {
      version: OCSF_VERSION,
      product: { name: 'writ', vendor_name: 'writ', version: VERSION },
      ...(action === null ? {} : { profiles: ['security_control'] }),
      log_name: `${home}/${stream}`,
      sequence: seq,
      uid: id,
      ...(action_id === undefined ? {} : { correlation_uid: action_id }),
    },
    actor: {
      user: {
        name: by.id,
        domain: by.namespace,
        uid: `${by.kind}:${by.id}@${by.namespace}`,
        type_id: USER_TYPES[by.kind],
        // OCSF fixes the text of each number but of Other.
        ...(USER_TYPES[by.kind] === OTHER ? { type: by.kind } : {}),
      },
    },
    unmapped: { writ: { leaf, details: event.details } },
  }
}

export function apiActivity(event: ExportedEvent, home: string): OcsfEvent {
  const activity = event.type === 'proposal_v1' ? CREATE : OTHER
  return {
    ...shared(event, home, 6003, activity),
    ...(activity === OTHER ? { activity_name: event.type } : {}),
    api: { operation: event.type, service: { name: 'writ', uid: home } },
    src_endpoint: { uid: home, name: 'writ' },
  }
}

/** One event a path; its index makes the id of its own. */
export function fileActivity(
  event: ExportedEvent,
  home: string,
  { path, before, after }: Change,
  index: number,
): OcsfEvent {
  const activity = before === null ? CREATE : after === null ? DELETE : UPDATE
  const shown = displayOfRaw(path)
  const { kind, size, digest } = after ?? before ?? { kind: 'file', size: 0, digest: null }
  const base = shared(event, home, 1001, activity)
  const hashes = [{ algorithm_id: 3, algorithm: 'SHA-256', value: digest?.slice(7) }]
  return {
    ...base,
    metadata: { ...base.metadata, uid: `${event.id}/${index}` },
    device: { type_id: 0, uid: home },
    file: {
      name: basename(shown) || shown,
      path: shown,
      type_id: FILE_TYPES[kind],
      size,
      ...(digest === null ? {} : { hashes }),
    },
  }
}
