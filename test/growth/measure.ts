/** The input of a pass is created before the measurement. */
export type Pass = (text: string) => Prepared

export interface Prepared {
  (): unknown
  /** The whole input, if the text is in many messages or records with their own fields. */
  readonly givenBytes?: number
}

export interface Slope {
  /** Bytes of the smaller and of the larger text. */
  readonly bytes: readonly [number, number]
  /** Milliseconds of CPU for each. */
  readonly tookMs: readonly [number, number]
  /** Whether its time grows faster than the text. */
  readonly isTooSteep: boolean
  /** Whether a megabyte of its input would take more than {@link MS_PER_MB_MAX}, on a machine that is as slow as given. */
  readonly isTooSlow: boolean
}

export interface Growth {
  readonly bytesMax: number
  /** The smaller text is this many times smaller. */
  readonly factor: number
  /** Minimum time of a steep pass for the larger text: shorter times are dominated by timers and garbage collection. */
  readonly floorMs: number
  /** Measures the {@link slownessOf} this machine when a pass is slow. Default: the machine is a fast one. */
  readonly slowness?: () => Promise<number>
}

/** A quadratic pass takes four times the ratio of the sizes if these differ fourfold; a linear one takes the ratio. */
const STEEPNESS_MAX = 2.5
const BYTES_PER_MB = 1_048_576
export const MS_PER_MB_MAX = 1_000
const TRIES = 3
/** Shorter times are dominated by the timer. */
const FLOOR_SMALL_MS = 0.5

/**
 * The growth of a pass's time with its text. The larger text is read once if that is too fast for any slope; otherwise it is
 * read again, rotated so that it is in no cache, and the fastest time counts. A steep pass must be steep again from the larger
 * text to a still larger one: if work begins above a size, such as a budget, only one step is steep.
 */
export async function slopeOf(
  pass: Pass,
  shape: (bytes: number) => string,
  { bytesMax, factor, floorMs, slowness = async () => 1 }: Growth,
): Promise<Slope> {
  const bytesMin = Math.floor(bytesMax / factor)
  const large = shape(bytesMax)
  const { givenBytes = bytesMax } = pass(large)
  let largeMs = await cpuMs(pass, large)
  const isSteep = () => isSteepStep(smallMs, largeMs, factor)
  const isSlow = (slowness = 1) => largeMs > Math.max(floorMs, (slowness * MS_PER_MB_MAX * givenBytes) / BYTES_PER_MB)
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
    isTooSlow: isMeasured && isSlow() && isSlow(await slowness()),
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

/**
 * CPU time of the reference on a machine for which {@link MS_PER_MB_MAX} was set: an estimate, by one that takes 340 ms and twice
 * as long as such a machine to start Node.
 */
const REFERENCE_MS = 200
const REFERENCE_TIMES = 40
/** Beyond it a time says nothing of a pass. */
const SLOWNESS_MAX = 3

/**
 * Time of this machine for a fixed work of the same kind as the passes: words of a text found, records written and read. At least
 * 1: virtual machines of one kind differ by more than twice from hour to hour, and the limit is set for a fast one.
 */
export async function slownessOf(): Promise<number> {
  const text = 'the quick brown fox jumps over 13 lazy dogs at /var/log/system.log '.repeat(1_000)
  const reference = (text: string) => () => {
    for (let times = 0; times < REFERENCE_TIMES; times++) {
      const words = text.match(/[\w./]+/g) ?? []
      JSON.parse(JSON.stringify(words.map((word, index) => ({ word, index }))))
    }
  }
  let fastestMs = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < TRIES; tries++) fastestMs = Math.min(fastestMs, await cpuMs(reference, text))
  return Math.min(SLOWNESS_MAX, Math.max(1, fastestMs / REFERENCE_MS))
}

/** CPU time instead of wall-clock time, so that other work on the machine does not count. */
async function cpuMs(pass: Pass, text: string): Promise<number> {
  const run = pass(text)
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
