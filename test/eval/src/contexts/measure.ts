import { TokenCounter } from '@heddle/assemble'
import { builtInStrategies, type FormatName, formats, HeddleError, type StrategyName } from '@heddle/contracts'
import { type BuildInput, ITERATIONS } from '@heddle/core'
import type { Measured } from '@heddle/test-support/figure'
import { builtOrRefused, isOverBudget, unaccounted } from '@heddle/test-support/samples/context-faults'
import { simulatedInput } from '@heddle/test-support/samples/simulated-input'
import { extractiveSummary, SimulatedThread } from '@heddle/test-support/samples/simulated-thread'
import { validateContext } from '@heddle/test-support/validators/index'
import { loopInput } from './loop.js'
import { type RealThread, readThreads } from './threads.js'

const BUDGETS = [2_000, 8_000, 16_000, 32_000, 64_000, 200_000] as const
/** Times of each thread at which a context is requested. */
const MOMENTS = 20
/** Number of faults that are described; the rest is counted. */
const TOLD_MAX = 20
/** The window of this model holds the largest budget. */
const MODEL = 'gpt-4.1'

interface Found {
  contexts: number
  refused: Map<string, number>
  broken: number
  overBudget: number
  orphans: number
  unaccounted: number
  wronglyRefused: number
  wrongNeeds: number
}

/** Builds a context of every real thread in every way, at times over its length, and counts its faults. */
export async function measureContexts(dataDir: string): Promise<Measured[]> {
  const threads = await readThreads(dataDir)
  const { count } = new TokenCounter()
  const found: Found = {
    contexts: 0,
    refused: new Map(),
    broken: 0,
    overBudget: 0,
    orphans: 0,
    unaccounted: 0,
    wronglyRefused: 0,
    wrongNeeds: 0,
  }
  for (const [index, thread] of threads.entries()) {
    say(`${index + 1} of ${threads.length}: ${thread.thread}`)
    for (const strategy of builtInStrategies) {
      for (const budget of BUDGETS) lookAt(thread, { strategy, budget, count }, found)
    }
  }
  for (const [what, times] of [...found.refused].sort()) say(`BUDGET_TOO_SMALL ${what}: ${times}`)
  const refusals = [...found.refused.values()].reduce((sum, times) => sum + times, 0)
  const asked = `${threads.length} threads, ${BUDGETS.length} budgets, ${builtInStrategies.length} strategies, ${formats.length} formats, ${MOMENTS} moments`
  const zero = (name: string, value: number, note: string): Measured => ({
    name: `contexts.${name}`,
    value,
    unit: 'faults',
    target: '<= 0',
    note,
  })
  return [
    { name: 'contexts.built', value: found.contexts, unit: 'contexts', note: asked },
    { name: 'contexts.refused', value: refusals, unit: 'requests', note: 'BUDGET_TOO_SMALL' },
    zero('broken', found.broken, 'rules of providers that a context breaks'),
    zero('orphans', found.orphans, 'of these, calls and results without each other'),
    zero('overBudget', found.overBudget, 'contexts with more tokens than their budget'),
    zero('unaccounted', found.unaccounted, 'messages that a receipt names not once'),
    zero(
      'wronglyRefused',
      found.wronglyRefused,
      'BUDGET_TOO_SMALL where the fixed parts fit and the strategy leaves out',
    ),
    zero('wrongNeeds', found.wrongNeeds, 'refusals whose needed budget is refused too'),
  ]
}

interface Way {
  readonly strategy: StrategyName
  readonly budget: number
  readonly count: BuildInput['count']
}

function lookAt({ thread: name, messages }: RealThread, { strategy, budget, count }: Way, found: Found): void {
  const thread = new SimulatedThread({ strategy, budget, model: MODEL }, extractiveSummary)
  for (let moment = 1; moment <= MOMENTS; moment++) {
    const end = Math.ceil((messages.length * moment) / MOMENTS)
    for (const message of messages.slice(thread.stored.length, end)) thread.arrive(message)
    thread.settle()
    for (const format of formats) {
      const about = `${name}, ${strategy}, ${budget}, ${format}, after ${end} messages`
      look(thread, { format, strategy, count, isLast: moment === MOMENTS }, about, found)
    }
  }
}

interface Look {
  readonly format: FormatName
  readonly strategy: StrategyName
  readonly count: BuildInput['count']
  readonly isLast: boolean
}

function look(thread: SimulatedThread, { format, strategy, count, isLast }: Look, about: string, found: Found): void {
  const fields = { format, count, request: { thread: 'run', message: 'go on' } }
  const input = strategy === ITERATIONS ? loopInput(thread, fields) : simulatedInput(thread, fields)
  const context = builtOrRefused(input)
  if (context instanceof HeddleError) {
    const what = `${strategy} ${thread.settings.budget}`
    found.refused.set(what, (found.refused.get(what) ?? 0) + 1)
    // The fixed parts are a few words here: a strategy that can leave messages out must find a context.
    if (strategy !== 'full-history') {
      found.wronglyRefused++
      tell(found.wronglyRefused, `refused: ${about}: ${context.message}`)
    }
    if (isLast && !isEnough(input, Number(context.facts?.['needed']))) {
      found.wrongNeeds++
      tell(found.wrongNeeds, `not enough: ${about}: ${context.message}`)
    }
    return
  }
  found.contexts++
  const faults = validateContext(context)
  found.broken += faults.length
  found.orphans += faults.filter((fault) => /result|call|output/i.test(fault)).length
  if (faults.length > 0) tell(found.broken, `broken: ${about}: ${faults[0]}`)
  if (isOverBudget(context, count)) {
    found.overBudget++
    tell(found.overBudget, `over budget: ${about}`)
  }
  const lost = unaccounted(thread, input, context)
  found.unaccounted += lost
  if (lost > 0) tell(found.unaccounted, `unaccounted: ${about}: ${lost} messages`)
}

function isEnough(input: BuildInput, needed: number): boolean {
  const widest = { ...input.settings, model: null, maxOutputTokens: 1, budget: needed }
  return needed > 195_000 || !(builtOrRefused({ ...input, settings: widest }) instanceof HeddleError)
}

function tell(times: number, line: string): void {
  if (times <= TOLD_MAX) say(line)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
