import { type Clock, type Logger, within } from '@heddle/runtime'
import { LRUCache } from 'lru-cache'
import type { NamedInRequest, ProxyBackend, SettingsMode } from '../backend.js'
import type { ProxyMetrics } from '../metrics.js'

export interface SettingsModesOptions {
  readonly metrics: ProxyMetrics
  readonly clock: Clock
  readonly log: Logger
  /** Longest time that a request waits for its mode, in milliseconds. */
  readonly lateMs: number
  backend(): ProxyBackend | null
}

interface KnownMode {
  readonly mode: SettingsMode | null
  readonly atMs: number
}

/** Age from which a mode is read again while requests still get it. */
const FRESH_MS = 1_000
/** Age from which a request waits for the mode: the longest time for which a change is not seen. */
const TRUSTED_MS = 5_000
/** After a failure the store is left alone for a while: while it is away, no request waits for it. */
const AWAY_MS = 2_000
const READ_MS_MAX = 5_000
const REMEMBERED_MAX = 10_000

/**
 * The modes in the settings of threads and agents. While the store does not answer, the last known one holds: a conversation keeps
 * its form.
 */
export class SettingsModes {
  readonly #options: SettingsModesOptions
  readonly #known = new LRUCache<string, KnownMode>({ max: REMEMBERED_MAX })
  readonly #ofAgents = new LRUCache<string, KnownMode>({ max: REMEMBERED_MAX })
  readonly #reading = new Map<string, Promise<KnownMode>>()
  #awayUntilMs = Number.NEGATIVE_INFINITY

  constructor(options: SettingsModesOptions) {
    this.#options = options
  }

  /** Null if neither the thread nor its agent sets a mode, or if it is neither known nor read in time. Never rejects. */
  async read(project: string, named: NamedInRequest): Promise<SettingsMode | null> {
    const { backend, clock, lateMs, metrics } = this.#options
    const read = backend()?.settingsMode
    if (read === undefined) return null
    const agentKey = JSON.stringify([project, named.agent])
    const key = JSON.stringify([project, named.agent, named.thread])
    const known = this.#known.get(key)
    const nowMs = clock.monotonicMs()
    const ageMs = nowMs - (known?.atMs ?? Number.NEGATIVE_INFINITY)
    if (known !== undefined && ageMs < FRESH_MS) return known.mode
    if (nowMs < this.#awayUntilMs) {
      if (known === undefined) metrics.modeUnknown('away')
      return this.#lastKnown(key, agentKey).mode
    }
    const reading = this.#reading.get(key) ?? this.#read({ key, agentKey }, () => read(project, named))
    if (known !== undefined && ageMs < TRUSTED_MS) return known.mode
    const late = () => {
      this.#awayUntilMs = clock.monotonicMs() + AWAY_MS
      metrics.modeUnknown('late')
      return this.#lastKnown(key, agentKey)
    }
    return (await within(reading, { timeoutMs: lateMs, clock, late })).mode
  }

  /** That of the thread, or of its agent for a thread that was never read. */
  #lastKnown(key: string, agentKey: string): Pick<KnownMode, 'mode'> {
    return this.#known.get(key) ?? this.#ofAgents.get(agentKey) ?? { mode: null }
  }

  /** Requests at once share one reading. */
  #read({ key, agentKey }: { key: string; agentKey: string }, read: () => Promise<SettingsMode | null>) {
    const { clock, log, metrics } = this.#options
    const atMs = clock.monotonicMs()
    const late = () => {
      throw new Error(`the store did not answer within ${READ_MS_MAX} ms`)
    }
    const reading = within(read(), { timeoutMs: READ_MS_MAX, clock, late })
      .then((mode) => {
        const found = { mode, atMs }
        this.#known.set(key, found)
        if (mode?.source !== 'thread') this.#ofAgents.set(agentKey, found)
        return found
      })
      .catch((error: unknown) => {
        this.#awayUntilMs = clock.monotonicMs() + AWAY_MS
        metrics.modeUnknown('failed')
        log.warn({ error }, 'the proxy mode of a thread or an agent could not be read; the last known one holds')
        return { ...this.#lastKnown(key, agentKey), atMs }
      })
      .finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }
}
