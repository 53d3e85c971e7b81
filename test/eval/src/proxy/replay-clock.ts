/** The clock of a replay: it is set to the recorded time of each request. */
export class ReplayClock {
  #nowMs = 0

  nowMs(): number {
    return this.#nowMs
  }

  set(atMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, atMs)
  }
}
