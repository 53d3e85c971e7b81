/** Files of the same name that are compared. */
const NAMESAKES_MAX = 20

/**
 * The names of files. Tools name one file by absolute and by relative path: of two paths, of which the shorter one is an
 * ending of the longer one, the longer one names the file.
 */
export class Files {
  readonly #byBase = new Map<string, string[]>()

  /** The known name of a path; the path itself for a new file, and for a longer path of a known one. */
  nameOf(path: string): string {
    return this.#namesakes(path).find((name) => name === path || isEndOf(path, name)) ?? path
  }

  /** The name of a file by any of its paths, also by one that is longer than the name; null for a new file. */
  known(path: string): string | null {
    return this.#namesakes(path).find((name) => name === path || isEndOf(path, name) || isEndOf(name, path)) ?? null
  }

  /** @returns the name that the path replaces, if it is a longer one of a known file */
  add(path: string): { readonly from: string; readonly to: string } | null {
    const names = this.#namesakes(path)
    if (names.some((name) => name === path || isEndOf(path, name))) return null
    const at = names.findIndex((name) => isEndOf(name, path))
    const from = names[at]
    if (from === undefined) {
      if (names.length < NAMESAKES_MAX) this.#byBase.set(baseOf(path), [...names, path])
      return null
    }
    this.#byBase.set(baseOf(path), names.with(at, path))
    return { from, to: path }
  }

  remove(path: string): void {
    this.#byBase.set(
      baseOf(path),
      this.#namesakes(path).filter((name) => name !== path),
    )
  }

  #namesakes(path: string): readonly string[] {
    return this.#byBase.get(baseOf(path)) ?? []
  }
}

export function baseOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function isEndOf(end: string, path: string): boolean {
  return end.includes('/') && !end.startsWith('/') && path.endsWith(`/${end}`)
}
