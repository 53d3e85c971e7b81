/**
 * A session of an agent in a folder of its destination: whether Heddle is away, and the events that are kept until it is back.
 * Any process may be killed at any moment, so an event is in a file until Heddle has it; what is sent twice is recorded once.
 */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** Bytes of what is kept while Heddle is away. */
const KEPT_BYTES_MAX = 4_000_000
/** No hook runs for so long: whoever took these events was killed. */
const TAKEN_MS_MAX = 60_000
const KEPT = 'kept.jsonl'
/** When events were taken, and the process that did; zeros where they are given back. */
const TAKEN = /^taken-(\d+)-(\d+)-\d+\.jsonl$/
const SECRET = { mode: 0o600 }

export class Session {
  constructor(id, folder) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.folder = folder
    this.statePath = join(folder, `${id.replace(/[^A-Za-z0-9-]/g, '_').slice(0, 100)}.json`)
  }

  /** Null while Heddle answers; otherwise since when it does not, and when it was tried last. */
  get away() {
    const { sinceMs, triedMs = 0 } = this.#state
    return sinceMs === undefined ? null : { sinceMs, triedMs }
  }

  /** Whether the user knows of a refusal. */
  get isRefused() {
    return this.#state.isRefused === true
  }

  get #state() {
    try {
      return JSON.parse(readFileSync(this.statePath, 'utf8'))
    } catch {
      return {}
    }
  }

  /** @param state.away see {@link away} */
  remember({ away, isRefused }) {
    if (away === null && !isRefused) return rmSync(this.statePath, { force: true })
    writeFileSync(this.statePath, JSON.stringify({ ...away, ...(isRefused && { isRefused }) }), SECRET)
  }

  get hasKept() {
    return this.#keptNames().length > 0
  }

  /** Shared by all sessions: what one that has ended left is sent by the next. */
  keep(event) {
    const line = lineOf({ attempts: 0, event: { timestamp: new Date().toISOString(), ...event } })
    if (this.#bytes() + Buffer.byteLength(line) <= KEPT_BYTES_MAX) appendFileSync(join(this.folder, KEPT), line, SECRET)
  }

  /** Events that no other process has taken, with the attempts to send them; they stay in `files`. */
  take() {
    const files = []
    const kept = []
    for (const [index, name] of this.#keptNames().entries()) {
      const path = join(this.folder, `taken-${Date.now()}-${process.pid}-${index}.jsonl`)
      try {
        renameSync(join(this.folder, name), path)
      } catch {
        continue // Another process was faster.
      }
      files.push(path)
      kept.push(...readFileSync(path, 'utf8').split('\n').flatMap(keptIn))
    }
    return { files, kept }
  }

  /** Puts back what is left of events that were taken, and those of `more` that fit; the others are the answer. */
  giveBack(files, left, more) {
    let bytes = this.#bytes() - files.reduce((sum, path) => sum + sizeOf(path), 0)
    const lines = left.map(lineOf)
    bytes += Buffer.byteLength(lines.join(''))
    const rest = [...more]
    for (let next = rest[0]; next !== undefined; next = rest[0]) {
      const line = lineOf(next)
      bytes += Buffer.byteLength(line)
      if (bytes > KEPT_BYTES_MAX) break
      lines.push(line)
      rest.shift()
    }
    if (lines.length > 0) {
      const name = `${Date.now()}${process.pid}`
      writeFileSync(join(this.folder, `${name}.part`), lines.join(''), SECRET)
      renameSync(join(this.folder, `${name}.part`), join(this.folder, `taken-0-0-${name}.jsonl`))
    }
    for (const path of files) rmSync(path, { force: true })
    return rest
  }

  #keptNames() {
    return readdirSync(this.folder).filter((name) => {
      const [, atMs, owner] = TAKEN.exec(name) ?? []
      return name === KEPT || (atMs !== undefined && (Date.now() - atMs > TAKEN_MS_MAX || !isRunning(Number(owner))))
    })
  }

  #bytes() {
    const names = readdirSync(this.folder).filter((name) => name.endsWith('.jsonl'))
    return names.reduce((sum, name) => sum + sizeOf(join(this.folder, name)), 0)
  }
}

const lineOf = (kept) => `${JSON.stringify(kept)}\n`

/** A process that was killed while it wrote leaves half a line. */
function keptIn(line) {
  try {
    const { attempts, event } = JSON.parse(line)
    return event === undefined ? [] : [{ attempts, event }]
  } catch {
    return []
  }
}

function sizeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function isRunning(id) {
  try {
    return process.kill(id, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}
