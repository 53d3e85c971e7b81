import { redactSecrets } from '../summarizing/redact.js'
import { oneLine, truncate } from '../tools/lines.js'
import { normalizePath } from '../tools/paths.js'
import { ARTIFACTS_MAX, type Artifact, byUse, type Ledger } from './artifact.js'
import { Files } from './files.js'

const NAME_CHARACTERS_MAX = 300
export const DETAIL_CHARACTERS_MAX = 100
/** Messages remembered for each artifact, the latest. */
const CODES_MAX = 3

/** A change of an artifact by a call. */
export interface Change extends Pick<Artifact, 'kind' | 'name' | 'state'> {
  readonly lines?: number | null
  readonly detail?: string
  /** Of the message with the call. */
  readonly code: string
}

/** The artifacts while a ledger is extended, by their kinds and names; names and details are redacted. */
export class Artifacts {
  readonly #artifacts = new Map<string, Artifact>()
  readonly #files = new Files()
  #changes: number
  readonly #dropped: number

  constructor(before: Ledger | null) {
    this.#changes = before?.changes ?? 0
    this.#dropped = before?.dropped ?? 0
    for (const artifact of before?.artifacts ?? []) {
      this.#artifacts.set(keyOf(artifact), artifact)
      if (artifact.kind === 'file') this.#files.add(artifact.name)
    }
  }

  /** The most useful artifacts within the bound, in their order. */
  close(code: string): Ledger {
    const all = [...this.#artifacts.values()]
    const kept = new Set(all.toSorted(byUse).slice(0, ARTIFACTS_MAX))
    return {
      code,
      artifacts: all.filter((artifact) => kept.has(artifact)),
      dropped: this.#dropped + all.length - kept.size,
      changes: this.#changes,
    }
  }

  file(path: string): Artifact | undefined {
    const name = this.#files.known(plain(normalizePath(path), NAME_CHARACTERS_MAX))
    return name === null ? undefined : this.#artifacts.get(keyOf({ kind: 'file', name }))
  }

  /** The known name of a file. */
  nameOf(path: string): string {
    return this.#files.nameOf(plain(normalizePath(path), NAME_CHARACTERS_MAX))
  }

  /**
   * The path of a folder as the names of the known files in it spell it. A relative path is one of an absolute path if all files
   * with this folder in their names are in the same one.
   */
  folder(path: string): string {
    const folder = this.nameOf(path)
    if (folder.startsWith('/') || folder === '') return folder
    const above = new Set<string>()
    for (const { kind, name } of this.#artifacts.values()) {
      const at = kind === 'file' && name.startsWith('/') ? name.indexOf(`/${folder}/`) : -1
      if (at !== -1) above.add(name.slice(0, at))
    }
    const [only, ...others] = above
    return only === undefined || others.length > 0 ? folder : `${only}/${folder}`
  }

  /** Files that are there, as far as is known, in a folder or below it. */
  below(path: string): Artifact[] {
    const folders = [this.folder(path), this.nameOf(path)].map((folder) => `${folder}/`)
    return [...this.#artifacts.values()].filter(
      ({ kind, name, state }) => kind === 'file' && isThere(state) && folders.some((folder) => name.startsWith(folder)),
    )
  }

  /** Notes that a file was shown: a written one stays written, and may have a longer path from then on. */
  view(path: string, code: string): void {
    if (this.file(path)?.state !== 'written') this.set({ kind: 'file', name: path, state: 'read', code })
    else this.#learn(this.nameOf(path))
  }

  set({ kind, name: given, state, lines = null, detail = '', code }: Change): void {
    const name = kind === 'file' ? this.nameOf(given) : plain(given, NAME_CHARACTERS_MAX)
    if (name === '' || name === '/' || name === '.') return
    const own = kind === 'file' ? this.#learn(name) : name
    const key = keyOf({ kind, name: own })
    const codes = this.#artifacts.get(key)?.codes ?? []
    this.#artifacts.set(key, {
      kind,
      name: own,
      state,
      lines,
      detail: plain(detail, DETAIL_CHARACTERS_MAX),
      check: null,
      codes: codes.at(-1) === code ? codes : [...codes, code].slice(-CODES_MAX),
      at: this.#changes++,
    })
    if (kind === 'file' && isThere(state)) this.#restoreFoldersAbove(name)
  }

  /** A check that passed settles all changes before it; after a failed one, another may follow. */
  check(given: NonNullable<Artifact['check']>): void {
    const check = { ...given, name: plain(given.name, DETAIL_CHARACTERS_MAX) }
    for (const [key, artifact] of this.#artifacts) {
      const isOpen = artifact.check?.passed !== true
      if (artifact.kind === 'file' && artifact.state === 'written' && isOpen)
        this.#artifacts.set(key, { ...artifact, check })
    }
  }

  /** A folder that was removed is there again, by itself or with a file in it. */
  restoreFolder(path: string): void {
    const known = this.#files.known(path)
    for (const name of new Set([path, known ?? path, path.slice(path.lastIndexOf('/') + 1)])) {
      const state = this.#artifacts.get(keyOf({ kind: 'file', name }))?.state
      if (state !== 'deleted' && state !== 'moved') continue
      this.#artifacts.delete(keyOf({ kind: 'file', name }))
      this.#files.remove(name)
    }
  }

  #restoreFoldersAbove(name: string): void {
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1))
      this.restoreFolder(name.slice(0, end))
  }

  /** @returns the name of a file, which may replace the end of it that was known */
  #learn(name: string): string {
    const longer = this.#files.add(name)
    if (longer !== null) this.#rename(longer.from, longer.to)
    return longer?.to ?? name
  }

  #rename(from: string, to: string): void {
    const artifact = this.#artifacts.get(keyOf({ kind: 'file', name: from }))
    if (artifact === undefined) return
    // The order of lines stays.
    const entries = [...this.#artifacts.entries()].map(([key, value]): [string, Artifact] =>
      value === artifact ? [keyOf({ kind: 'file', name: to }), { ...artifact, name: to }] : [key, value],
    )
    this.#artifacts.clear()
    for (const [key, value] of entries) this.#artifacts.set(key, value)
  }
}

export function isThere(state: Artifact['state']): boolean {
  return state === 'read' || state === 'written'
}

function keyOf({ kind, name }: Pick<Artifact, 'kind' | 'name'>): string {
  return `${kind} ${name}`
}

function plain(text: string, charactersMax: number): string {
  return truncate(redactSecrets(oneLine(text)), charactersMax)
}
