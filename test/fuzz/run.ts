import { breakSomewhere, breakText } from './faults.js'
import { judgePayload, Producer, type Verdict } from './judge.js'
import { goodAppend, goodJob, strayAppend } from './messages.js'
import { Random } from './random.js'
import { strayJson, strayValue } from './values.js'

export interface Tally {
  readonly inputs: number
  readonly accepted: number
  /** By code. */
  readonly refused: Readonly<Record<string, number>>
  /** The first inputs with another result, each with the number that repeats it. */
  readonly crashes: readonly { readonly input: number; readonly error: unknown }[]
  readonly crashed: number
}

export interface RunOptions {
  readonly seed: number
  /** The number of the first input. */
  readonly from: number
  readonly count: number
  readonly onProgress?: (done: number) => void
}

const CRASHES_KEPT_MAX = 20

/** Judges a number of inputs, one after the other; the same seed and number make the same input. */
export async function run({ seed, from, count, onProgress }: RunOptions): Promise<Tally> {
  const producer = new Producer()
  const refused: Record<string, number> = {}
  const crashes: { input: number; error: unknown }[] = []
  let [accepted, crashed] = [0, 0]
  for (let input = from; input < from + count; input++) {
    try {
      const verdict = await judge(new Random(seed, input), producer)
      if (verdict.kind === 'accepted') accepted++
      else refused[verdict.code] = (refused[verdict.code] ?? 0) + 1
    } catch (error) {
      crashed++
      if (crashes.length < CRASHES_KEPT_MAX) crashes.push({ input, error })
    }
    onProgress?.(input - from + 1)
  }
  return { inputs: count, accepted, refused, crashes, crashed }
}

async function judge(random: Random, producer: Producer): Promise<Verdict> {
  const ofProgram = random.oneIn(2)
  if (random.oneIn(50)) {
    const stray = ofProgram ? strayValue(random) : strayJson(random)
    return await (ofProgram ? producer.judge(stray) : judgePayload(stray))
  }
  const isStray = ofProgram && random.oneIn(8)
  const input = isStray ? strayAppend(random) : ofProgram ? goodAppend(random) : goodJob(random)
  const places = random.pick([0, 0, 1, 1, 1, 2, 3])
  breakSomewhere(random, input, places, ofProgram)
  const text = ofProgram ? undefined : textOf(input)
  const broken = text !== undefined && random.oneIn(4) ? breakText(random, text) : undefined
  // Some writers to a queue do not wrap their JSON into a text.
  const data = broken ?? (text === undefined || random.oneIn(10) ? input : text)
  const verdict = await (ofProgram ? producer.judge(input) : judgePayload(data))
  if (verdict.kind === 'refused' && places === 0 && broken === undefined && !isStray) {
    throw new Error(`a good input was refused: ${verdict.code}: ${verdict.detail}`)
  }
  return verdict
}

/** @returns undefined if the value is nested deeper than JavaScript can follow */
function textOf(input: unknown): string | undefined {
  try {
    return JSON.stringify(input)
  } catch {
    return undefined
  }
}
