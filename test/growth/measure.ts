/** What a pass is given is made before its time is taken. */
export type Pass = (text: string) => Prepared

export interface Prepared {
  (): unknown
  /** What the pass reads, where the text is given in many messages or records, each with fields of its own. */
  readonly givenBytes?: number
}

export interface Slope {
  /** Bytes of the smaller and of the larger text. */
  readonly bytes: readonly [number, number]
  /** Milliseconds of CPU that each took. */
  readonly tookMs: readonly [number, number]
  /** Whether it took time that grows faster than the text. */
  readonly isTooSteep: boolean
  /** Whether a megabyte of what it is given would take more than {@link MS_PER_MB_MAX}. */
  readonly isTooSlow: boolean
}

export interface Growth {
  readonly bytesMax: number
  /** The smaller text is this many times smaller. */
  readonly factor: number
  /** The least that a steep pass takes for the larger text: below it timers and the collector decide. */
  readonly floorMs: number
}

/** A quadratic pass takes four times the ratio of the sizes where these differ four times; a linear one takes the ratio. */
const STEEPNESS_MAX = 2.5
const BYTES_PER_MB = 1_048_576
export const MS_PER_MB_MAX = 1_000
const TRIES = 3
/** Shorter times are those of the timer. */
const FLOOR_SMALL_MS = 0.5

/**
 * How the time of a pass grows with its text. The larger text is read once where that is too fast for any slope; else it is
 * read again, turned so that no cache knows it, and the fastest time counts. What is steep must be so again from the larger
 * text to one that is larger still: where work begins above a size, such as a budget, one step alone is steep.
 */
export async function slopeOf(
  pass: Pass,
  shape: (bytes: number) => string,
  { bytesMax, factor, floorMs }: Growth,
): Promise<Slope> {
  const bytesMin = Math.floor(bytesMax / factor)
  const large = shape(bytesMax)
  const { givenBytes = bytesMax } = pass(large)
  let largeMs = await cpuMs(pass, large)
  const isSteep = () => isSteepStep(smallMs, largeMs, factor)
  const isSlow = () => largeMs > Math.max(floorMs, (MS_PER_MB_MAX * givenBytes) / BYTES_PER_MB)
  let smallMs = Number.POSITIVE_INFINITY
  if (largeMs >= floorMs) {
    const small = shape(bytesMin)
    for (let tries = 0; tries < TRIES; tries++) smallMs = Math.min(smallMs, await cpuMs(pass, turned(small, tries)))
    for (let tries = 1; tries < TRIES && (isSteep() || isSlow()); tries++) {
      largeMs = Math.min(largeMs, await cpuMs(pass, turned(large, tries)))
    }
  }
  const isMeasured = largeMs >= floorMs
  return {
    bytes: [bytesMin, bytesMax],
    tookMs: [isMeasured ? smallMs : 0, largeMs],
    isTooSteep: isMeasured && isSteep() && isSteepStep(largeMs, await cpuMs(pass, shape(bytesMax * factor)), factor),
    isTooSlow: isMeasured && isSlow(),
  }
}

function isSteepStep(smallMs: number, largeMs: number, factor: number): boolean {
  return largeMs > STEEPNESS_MAX * factor * Math.max(smallMs, FLOOR_SMALL_MS)
}

const TURN_CHARACTERS = 137

function turned(text: string, times: number): string {
  const at = (times * TURN_CHARACTERS) % Math.max(1, text.length)
  return text.slice(at) + text.slice(0, at)
}

/** CPU time and not that of the clock: other work on the machine does not count. */
async function cpuMs(pass: Pass, text: string): Promise<number> {
  const run = pass(text)
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
