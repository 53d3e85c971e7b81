import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, posix } from 'node:path'

/** The findings of a replay about a file, besides its content on the disk. */
interface Known {
  isWritten: boolean
  wasMoved: boolean
  /** The number of the call that wrote it last. */
  at: number
  /** Whether the content on the disk is that of the file, and not a stand-in. */
  isExact: boolean
}

/** A file after a replay. */
export interface ReplayedFile {
  readonly path: string
  readonly state: 'read' | 'written' | 'deleted' | 'moved'
  /** Null if the calls do not say. */
  readonly lines: number | null
  /** The number of the call that wrote it last. */
  readonly at: number
}

const STAND_IN = 'a line that no call showed\n'
/** A path from a folder that no call named. */
export const SOMEWHERE = '/~somewhere'

/** A folder on the disk with the files of a session, by their absolute paths in it. */
export class Scratch {
  readonly #root = mkdtempSync(join(tmpdir(), 'heddle-replay-'))
  readonly #known = new Map<string, Known>()
  /** Files of which nobody knows whether a command changed them. */
  readonly doubtful = new Set<string>()
  /** The number of the call that is replayed. */
  now = 0

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }

  /** The files that calls touched. */
  files(): ReplayedFile[] {
    return [...this.#known].flatMap(([path, { isWritten, wasMoved, isExact, at }]): ReplayedFile[] => {
      if (this.doubtful.has(path) || this.isFolder(path)) return []
      if (!existsSync(this.#inside(path))) return [{ path, state: wasMoved ? 'moved' : 'deleted', lines: null, at }]
      const lines = isExact ? linesIn(readFileSync(this.#inside(path), 'utf8')) : null
      return [{ path, state: isWritten ? 'written' : 'read', lines, at }]
    })
  }

  /** Files and folders that are there. */
  paths(): string[] {
    return readdirSync(this.#root, { recursive: true, encoding: 'utf8' }).map((name) => `/${name}`)
  }

  isFolder(path: string): boolean {
    return statSync(this.#inside(path), { throwIfNoEntry: false })?.isDirectory() ?? false
  }

  exists(path: string): boolean {
    return existsSync(this.#inside(path))
  }

  /** Known files that end with a relative path. */
  endingWith(path: string): string[] {
    return [...this.#known.keys()].filter((known) => known.endsWith(`/${path}`) && this.exists(known))
  }

  /** The known files that a pattern of a shell names. */
  expand(pattern: string): string[] {
    const signs = [...pattern].map((sign) =>
      sign === '*' ? '[^/]*' : sign === '?' ? '[^/]' : /[[\]\w/-]/.test(sign) ? sign : `\\${sign}`,
    )
    const named = new RegExp(`^${signs.join('')}$`)
    return [...this.#known.keys()].filter((path) => named.test(path) && this.exists(path))
  }

  view(path: string, content: string | null): void {
    const known = this.#known.get(path)
    if (known !== undefined && this.exists(path)) {
      if (content !== null && !known.isExact) this.#put(path, content, { ...known, isExact: true })
    } else this.#put(path, content, { isWritten: false, wasMoved: false, isExact: content !== null, at: this.now })
  }

  write(path: string, content: string | null): void {
    this.#put(path, content, { isWritten: true, wasMoved: false, isExact: content !== null, at: this.now })
  }

  append(path: string, content: string | null): void {
    const before = this.#exactly(path)
    this.write(path, before === null || content === null ? null : before + content)
  }

  edit(path: string, from: string, to: string, isEvery: boolean): void {
    const before = this.#exactly(path)
    if (from === '') this.write(path, to)
    else if (before === null || !before.includes(from)) this.write(path, null)
    else this.write(path, isEvery ? before.split(from).join(to) : before.replace(from, () => to))
  }

  touch(path: string): void {
    if (!this.exists(path)) this.write(path, '')
  }

  folder(path: string): void {
    mkdirSync(this.#inside(path), { recursive: true })
  }

  delete(path: string): void {
    for (const file of this.#below(path)) this.#forget(file, false)
    if (!this.#known.has(path) && !this.isFolder(path)) this.#forget(path, false)
    rmSync(this.#inside(path), { recursive: true, force: true })
  }

  /** Into the target, if that is a folder. */
  transfer(from: string, target: string, { isMove }: { readonly isMove: boolean }): void {
    const to = this.isFolder(target) ? posix.join(target, basename(from)) : target
    if (!this.exists(from)) {
      this.write(to, null)
      if (isMove) this.#forget(from, true)
      return
    }
    const files = this.#below(from).filter((file) => this.exists(file))
    const carried = files.map((file) => [posix.join(to, posix.relative(from, file)), this.#known.get(file)] as const)
    mkdirSync(dirname(this.#inside(to)), { recursive: true })
    if (isMove) renameSync(this.#inside(from), this.#inside(to))
    else cpSync(this.#inside(from), this.#inside(to), { recursive: true })
    for (const [path, known] of carried) {
      this.doubtful.delete(path)
      this.#known.set(path, { isWritten: true, wasMoved: false, isExact: known?.isExact ?? false, at: this.now })
    }
    if (isMove) for (const file of files) this.#forget(file, true)
  }

  /** Known files that are the path or are below it. */
  #below(path: string): string[] {
    return [...this.#known.keys()].filter((known) => known === path || known.startsWith(`${path}/`))
  }

  #forget(path: string, wasMoved: boolean): void {
    this.doubtful.delete(path)
    const before = this.#known.get(path)
    const wasGone = before !== undefined && !this.exists(path) && !wasMoved
    this.#known.set(path, {
      isWritten: true,
      wasMoved: wasGone ? before.wasMoved : wasMoved,
      isExact: false,
      at: this.now,
    })
  }

  #exactly(path: string): string | null {
    if (!this.exists(path)) return this.#known.has(path) ? '' : null
    return this.#known.get(path)?.isExact === true ? readFileSync(this.#inside(path), 'utf8') : null
  }

  #put(path: string, content: string | null, known: Known): void {
    mkdirSync(dirname(this.#inside(path)), { recursive: true })
    writeFileSync(this.#inside(path), content ?? STAND_IN)
    this.doubtful.delete(path)
    this.#known.set(path, known)
  }

  #inside(path: string): string {
    return join(this.#root, posix.normalize(`/${path}`))
  }
}

function linesIn(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}
