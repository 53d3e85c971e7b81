import { fileURLToPath } from 'node:url'
import type { Measured } from '@heddle/test-support/figure'
import { tsImport } from 'tsx/esm/api'
import { startHeddle } from '../plugins/heddle-up.js'

const NAMES = ['ai-sdk', 'openai-agents', 'langchain', 'mastra']
export const awayFigures = NAMES.map((name) => `adapters.away.${name}`)

/** The frameworks are packages of the tests of the adapters. */
const SOURCE = fileURLToPath(new URL('../../../pipeline/adapters/away-agents.ts', import.meta.url))
const TURNS_BEFORE = 10
const TURNS_AWAY = 100
/** More than an adapter leaves between two attempts: each turn tries to reach Heddle. */
const PAUSE_MS = 6_000
const TURN_MS_MAX = 100

type Turn = (content: string) => Promise<unknown>

interface AwayOptions {
  readonly agent: string
  readonly url: string
  readonly now: () => number
  readonly onAway: (error: unknown) => void
}

/**
 * Turns of an agent on each framework whose Heddle was stopped. A turn calls Heddle several times, and its whole time is
 * measured, that of the framework included.
 */
export async function measureAdaptersAway(): Promise<Measured[]> {
  const { awayAgents } = (await tsImport(SOURCE, import.meta.url)) as {
    awayAgents: Readonly<Record<string, (options: AwayOptions) => Turn>>
  }
  const heddle = await startHeddle()
  const agents = NAMES.map((name) => new AwayAgent(name, awayAgents[name], heddle.url))
  for (const agent of agents) await agent.run(TURNS_BEFORE)
  await heddle.stop()
  const figures: Measured[] = []
  for (const agent of agents) figures.push(await agent.figure())
  return figures
}

class AwayAgent {
  readonly #turn: Turn
  #nowMs = 0
  #reports = 0
  #said = 0

  constructor(
    private readonly name: string,
    open: ((options: AwayOptions) => Turn) | undefined,
    url: string,
  ) {
    if (open === undefined) throw new TypeError(`there is no agent on ${name}`)
    const onAway = () => {
      this.#reports += 1
    }
    this.#turn = open({ agent: name, url, now: () => this.#nowMs, onAway })
  }

  /** @returns the milliseconds of each turn */
  async run(turns: number): Promise<number[]> {
    const timesMs: number[] = []
    for (let left = turns; left > 0; left--) {
      this.#nowMs += PAUSE_MS
      this.#said += 1
      const startedMs = performance.now()
      await this.#turn(`Turn ${this.#said}`)
      timesMs.push(performance.now() - startedMs)
    }
    return timesMs
  }

  async figure(): Promise<Measured> {
    const sorted = (await this.run(TURNS_AWAY)).sort((left, right) => left - right)
    if (this.#reports !== 1) throw new Error(`${this.name} said ${this.#reports} times that Heddle is away`)
    const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0
    const note = `p99 of ${sorted.length} turns, median ${at(0.5).toFixed(1)}, longest ${at(1).toFixed(1)}; said once`
    return { name: `adapters.away.${this.name}`, value: at(0.99), unit: 'ms', target: `<= ${TURN_MS_MAX}`, note }
  }
}
