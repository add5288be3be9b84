/**
 * The programs of one run: pinned when it begins, held against their pins before each participant
 * runs, and sealed for all of them. A run that began without pins seals what is there now.
 */
import type { Flow } from '../../contracts/index.ts'
import type {
  FlowFact,
  OpenReviewer,
  ParsedAnswer,
  PinnedFile,
  RunOrigin,
} from '../../flow/index.ts'
import type { SealedPaths } from '../../service/index.ts'
import type { Ledger } from '../../store/index.ts'
import {
  LOADED_ANYWHERE,
  LOADED_AT_START,
  PACKAGE_DIRECTORIES,
  PYTHON_ANYWHERE,
} from './code-names.ts'
import { DATA_NAMES, DATA_SUFFIXES, LOADED_NAMES } from './data-names.ts'
import { ARTIFACT_STEMS, type ArtifactPlace, namedData, plainlyNamed } from './named-data.ts'
import { openReviewersOf } from './open-reviewers.ts'
import type { OthersRules } from './others-changes.ts'
import { commandOf, findsPython } from './participant-command.ts'
import { keepPrograms, textOf } from './program-changes.ts'
import { type ProtectedPrograms, protectedPrograms } from './protected-programs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

type PinnedOrigin = Pick<RunOrigin, 'programs' | 'pins' | 'unpinned' | 'open_reviewers'>

export class RunPrograms {
  readonly #files: WorkspaceFiles
  readonly #searchPath: string
  /** As it was written. */
  #flow: Flow
  #pins: readonly PinnedFile[] | null = null
  /** Runs by earlier rules began without pins of packages. */
  #arePackagesPinned = true
  #found: ProtectedPrograms | null = null
  /** Decided when the run begins. Runs by earlier versions have none. */
  #open: readonly OpenReviewer[] = []

  constructor(flow: Flow, workspace: string, searchPath: string) {
    this.#files = new WorkspaceFiles(workspace)
    this.#flow = flow
    this.#searchPath = searchPath
  }

  /** Pins what is there now, for the fact that begins the run. */
  pin(): PinnedOrigin {
    const { programs, pins, unpinned } = this.#parts()
    this.#pins = pins
    this.#open = openReviewersOf(this.#files, this.#flow, this.#searchPath)
    return {
      programs,
      pins,
      ...(unpinned.length === 0 ? {} : { unpinned }),
      ...(this.#open.length === 0 ? {} : { open_reviewers: this.#open }),
    }
  }

  /** Keeps the bytes of what is pinned, before the fact that names their digests. */
  keep(ledger: Pick<Ledger, 'objects'>): Promise<void> {
    return keepPrograms(ledger, this.#files, this.#pins ?? [])
  }

  get pins(): readonly PinnedFile[] {
    return this.#pins ?? []
  }

  textNow(path: string): string | null {
    return textOf(this.#files.bytes(path))
  }

  /** Takes over what a run was begun with, or was moved to. */
  restore(facts: readonly FlowFact[]): void {
    for (const { type, payload } of facts) {
      if (type === 'flow_started_v1') {
        this.#pins = payload.origin?.pins ?? null
        this.#open = payload.origin?.open_reviewers ?? []
        this.#arePackagesPinned = Number(payload.origin?.evaluator.version ?? 1) >= 4
      }
      if (type !== 'flow_event_v1' || payload.kind !== 'event') continue
      const { event } = payload
      if (event.type !== 'migrated') continue
      this.#flow = event.flow
      this.#pins = event.pins ?? null
      this.#open = event.open_reviewers ?? []
    }
  }

  /** What no participant may change. */
  sealed(): SealedPaths {
    const { sealed, readOnly } = this.#parts()
    const pinned = (this.#pins ?? []).map(({ path }) => path)
    const atStart = this.#isJudging() ? LOADED_AT_START : []
    const patterns = [...new Set([...sealed, ...pinned, ...atStart])]
    return { code: 'flow.program_touched', patterns, places: readOnly }
  }

  /** What tools of a reviewer would load from anywhere, and the patterns that a node may change of it. */
  loadedAnywhere(declared: readonly string[]): readonly SealedPaths[] {
    const code = 'flow.program_touched'
    return this.#isJudging() ? [{ code, patterns: LOADED_ANYWHERE, places: [], declared }] : []
  }

  /** What Python of an executor with secrets could find, and the patterns that a node may change of it. */
  foundByName(declared: readonly string[]): readonly SealedPaths[] {
    const isFinding = this.#flow.nodes.some(
      ({ kind, executor }) => kind === 'WORK' && findsPython(executor),
    )
    const code = 'flow.program_touched'
    return isFinding ? [{ code, patterns: PYTHON_ANYWHERE, places: [], declared }] : []
  }

  /** The first; undefined while all are closed. */
  get openReviewer(): OpenReviewer | undefined {
    return this.#open[0]
  }

  /** What another act may not have changed, as `OthersChanges` judges it. */
  othersRules(): OthersRules {
    const [anywhere] = this.loadedAnywhere([])
    const [only] = this.dataOnly({ folder: '', nodeId: '', attempt: 0 })
    return {
      files: this.#files,
      flow: this.#flow,
      patterns: this.sealed().patterns,
      anywhere: anywhere?.patterns ?? [],
      only: only?.data_only ?? null,
    }
  }

  /** Everything of the workspace but data that the flow names, while a reviewer is open; of one attempt. */
  dataOnly(place: ArtifactPlace): readonly SealedPaths[] {
    if (this.openReviewer === undefined) return []
    const { node_id: reviewer, why } = this.openReviewer
    const data_only = {
      suffixes: DATA_SUFFIXES,
      names: DATA_NAMES,
      except: LOADED_NAMES,
      paths: namedData(this.#flow, place.folder),
      artifact: {
        folder: `${place.folder}/${place.nodeId}/${place.attempt}`,
        stems: ARTIFACT_STEMS,
      },
      reviewer,
      why,
    }
    return [{ code: 'flow.program_touched', patterns: [], places: [], data_only }]
  }

  /** While a reviewer is open the host names the artifact, where its name is not a plain one. */
  named(parsed: ParsedAnswer, place: ArtifactPlace): ParsedAnswer {
    if (this.openReviewer === undefined) return parsed
    return plainlyNamed(parsed, place, namedData(this.#flow, place.folder))
  }

  /**
   * Files that are not as they were pinned: changed, gone, or new: as a program that was not there, next to
   * a reviewer's program, or before a package of its.
   */
  changed(): readonly string[] {
    const pins = this.#pins
    if (pins === null) return []
    const { directories, packages, rootFiles, absent, programs } = this.#parts()
    const isOpen = new Set(rootFiles)
    const changed = pins.filter(
      ({ path, digest }) => !isOpen.has(path) && this.#files.digest(path) !== digest,
    )
    if (changed.length > 0) return changed.map(({ path }) => path)
    const known = new Set(pins.map(({ path }) => path))
    const isLeftOut = (name: string): boolean => PACKAGE_DIRECTORIES.includes(name)
    const isNew = (path: string): boolean => !known.has(path)
    const isThere = (path: string): boolean =>
      this.#files.isFile(path) || this.#files.isDirectory(path)
    return [
      ...absent.filter(isThere),
      ...programs.map(({ path }) => path).filter(isNew),
      ...directories.flatMap((directory) =>
        this.#files.filesBelow(directory, isLeftOut).filter(isNew),
      ),
      ...(this.#arePackagesPinned ? packages.filter((path) => isNew(path) && isThere(path)) : []),
    ]
  }

  #isJudging(): boolean {
    return this.#flow.nodes.some(
      ({ kind, reviewer }) => kind === 'CHECK' && commandOf(reviewer) !== null,
    )
  }

  /** Looked for once: what comes later is work, since no participant can change a program. */
  #parts(): ProtectedPrograms {
    const pinned = this.#pins === null ? null : new Set(this.#pins.map(({ path }) => path))
    this.#found ??= protectedPrograms(this.#files, this.#flow, this.#searchPath, pinned)
    return this.#found
  }
}
