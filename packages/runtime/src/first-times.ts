const KEYS_MAX = 1_000

/** Whether something is seen for the first time in this process, for warnings that would otherwise repeat with each job. */
export class FirstTimes {
  readonly #seen = new Set<string>()

  /** True once for each key. Beyond 1,000 keys nothing is new, so that it stays small and the log readable. */
  isFirst(key: string): boolean {
    if (this.#seen.size >= KEYS_MAX || this.#seen.has(key)) return false
    this.#seen.add(key)
    return true
  }
}
