import type { Candidate } from '../speech/sections.js'

/** Share of the paths that must be below a folder for it to be stated once instead of in each path. */
const SHARE_MIN = 0.7
const PATHS_MAX = 2_000

/** Shows absolute paths without the folder that most of them share. */
export class PathView {
  /** With a trailing slash; empty if there is no such folder. */
  readonly root: string

  constructor(paths: readonly string[]) {
    this.root = commonFolder(paths.filter((path) => path.startsWith('/')).slice(0, PATHS_MAX))
  }

  show(path: string): string {
    return this.root !== '' && path.startsWith(this.root) ? path.slice(this.root.length) : path
  }

  /** A line that states the folder left out of the paths. */
  line(): Candidate {
    return { section: 'files', text: `Paths are below ${this.root}`, score: 1_000, place: 0, reference: '' }
  }

  /** Shortens the paths in a text. */
  within(text: string): string {
    return this.root === ''
      ? text
      : `${text} `
          .replaceAll(this.root, '')
          .replaceAll(`${this.root.slice(0, -1)} `, '. ')
          .trimEnd()
  }
}

function commonFolder(paths: readonly string[]): string {
  if (paths.length < 2) return ''
  let folder = '/'
  for (;;) {
    const counts = new Map<string, number>()
    for (const path of paths) {
      const end = path.startsWith(folder) ? path.indexOf('/', folder.length) : -1
      if (end < 0) continue
      const below = path.slice(0, end + 1)
      counts.set(below, (counts.get(below) ?? 0) + 1)
    }
    const [best] = [...counts].sort((left, right) => right[1] - left[1])
    if (!best || best[1] < SHARE_MIN * paths.length) return folder === '/' ? '' : folder
    folder = best[0]
  }
}
