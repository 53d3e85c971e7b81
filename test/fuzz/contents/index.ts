import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@heddle/client/http'
import { contentShapes } from '@heddle/test-support/content-shapes/index'
import type { Measured } from '@heddle/test-support/figure'
import { type Door, openDoor } from '../door.js'
import { Health, type Waits } from './health.js'
import { type Passed, type Place, passContent, shorterOf } from './one-content.js'

export interface ContentsOptions {
  /** Names of shapes, or prefixes of them; null for all. */
  readonly shapes: readonly string[] | null
  /** In megabytes, in ascending order. */
  readonly sizes: readonly number[]
  /** For CPU profiles of the server; null for no profiles. */
  readonly profilesFolder: string | null
  readonly say: (line: string) => void
  readonly onShape: (row: ShapeRow) => void
}

/** The costs of one shape. */
export interface ShapeRow {
  readonly shape: string
  /** The longest answer of `/healthz`, and the step during which it came. */
  readonly healthMs: number
  readonly during: string
  /** The longest block of the event loop, and the step during which it came. */
  readonly loopMs: number
  readonly loopDuring: string
  /** From the append until all stages have finished, by size. */
  readonly settledMs: Readonly<Record<number, number>>
  readonly importedMs: number
  /** The time to settle of the largest size, divided by that of the smallest. */
  readonly growth: number
  /** The delays for other clients during each step, with the size in megabytes. */
  readonly waits: readonly StepWait[]
  readonly error: string | null
}

interface StepWait extends Waits {
  readonly during: string
}

const BYTES_PER_MB = 1_000_000
export const HEALTH_MS_MAX = 250
export const GROWTH_MAX = 10
/** Contents in one store, so that earlier ones have little effect. */
const SHAPES_PER_SERVER = 24
const CALL_MS_MAX = 300_000
const SERVER_ARGUMENT = new URL('loop-meter.mjs', import.meta.url)

/** Sends contents of all shapes and sizes through a new `heddle up`, and measures the delays for other clients meanwhile. */
export async function fuzzContents({
  shapes,
  sizes,
  profilesFolder,
  say,
  onShape,
}: ContentsOptions): Promise<Measured[]> {
  const names = Object.keys(contentShapes).filter((name) => shapes === null || isNamed(name, shapes))
  if (names.length === 0) throw new Error(`no shape is called ${shapes?.join(' or ')}`)
  const rows: ShapeRow[] = []
  for (let from = 0; from < names.length; from += SHAPES_PER_SERVER) {
    await onServer(profilesFolder, async (place, door) => {
      for (const name of names.slice(from, from + SHAPES_PER_SERVER)) {
        const row = await passShape(place, name, sizes)
        rows.push(row)
        onShape(row)
        say(`${rows.length} of ${names.length}: ${name}`)
        if (door.ended !== null) throw new Error(`heddle up ended: ${JSON.stringify(door.ended)}`)
      }
    })
  }
  return figuresOf(rows)
}

function isNamed(name: string, shapes: readonly string[]): boolean {
  return shapes.some((wanted) => name === wanted || (wanted.endsWith('*') && name.startsWith(wanted.slice(0, -1))))
}

async function onServer(
  profilesFolder: string | null,
  work: (place: Place, door: Door) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-contents-'))
  const door = await openDoor({ modules: [SERVER_ARGUMENT], profilesFolder })
  const health = new Health(door.url, door.process)
  try {
    const place = { client: createClient({ url: door.url, deadlineMs: CALL_MS_MAX }), health, folder, data: door.data }
    // One-time work of a process is not the cost of a content.
    await passContent(place, { name: 'warm', text: 'some words '.repeat(20_000), size: 0, isRead: true })
    await work(place, door)
  } finally {
    await health.close()
    await door.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * A shape above a limit is run once more, and the shorter of each two times counts: the cost of a content recurs, other
 * load on the machine does not.
 */
async function passShape(place: Place, name: string, sizes: readonly number[]): Promise<ShapeRow> {
  const first = await passSizes(place, name, name, sizes)
  const row = rowOf(name, first)
  if (first.error !== null || (row.healthMs <= HEALTH_MS_MAX && row.growth <= GROWTH_MAX)) return row
  const again = await passSizes(place, name, `${name}-again`, sizes)
  const passed = first.passed.map((one, index) => shorterOf(one, again.passed[index] ?? one))
  return rowOf(name, { passed, error: again.error })
}

interface PassedSizes {
  readonly passed: readonly Passed[]
  readonly error: string | null
}

async function passSizes(place: Place, name: string, thread: string, sizes: readonly number[]): Promise<PassedSizes> {
  const shape = contentShapes[name]
  if (shape === undefined) throw new TypeError(`no shape is called ${name}`)
  const passed: Passed[] = []
  try {
    for (const size of sizes) {
      const text = shape(size * BYTES_PER_MB)
      // The largest size is read in all the ways in which the others are read.
      const isRead = size === sizes.at(-1)
      passed.push(await passContent(place, { name: `${thread}-${size}`, text, size, isRead }))
    }
  } catch (thrown) {
    return { passed, error: thrown instanceof Error ? thrown.message : String(thrown) }
  }
  return { passed, error: null }
}

function rowOf(shape: string, { passed, error }: PassedSizes): ShapeRow {
  const waits: StepWait[] = passed.flatMap(({ size, waits }) =>
    Object.entries(waits).map(([step, { healthMs, loopMs }]) => ({
      during: `${step} ${size} MB`,
      healthMs: Math.round(healthMs),
      loopMs: Math.round(loopMs),
    })),
  )
  const worst = (key: 'healthMs' | 'loopMs') =>
    waits.reduce((longest, wait) => (wait[key] > longest[key] ? wait : longest), NO_WAIT)
  const health = worst('healthMs')
  const loop = worst('loopMs')
  const [smallest, largest] = [passed[0]?.settledMs ?? 0, passed.at(-1)?.settledMs ?? 0]
  return {
    shape,
    healthMs: health.healthMs,
    during: health.during,
    loopMs: loop.loopMs,
    loopDuring: loop.during,
    settledMs: Object.fromEntries(passed.map(({ size, settledMs }) => [size, Math.round(settledMs)])),
    importedMs: Math.round(passed.at(-1)?.importedMs ?? 0),
    waits,
    growth: smallest === 0 ? 0 : Number((largest / smallest).toFixed(1)),
    error,
  }
}

const NO_WAIT = { during: '', healthMs: 0, loopMs: 0 }

function figuresOf(rows: readonly ShapeRow[]): Measured[] {
  const worst = (key: 'healthMs' | 'growth') =>
    rows.reduce((worst, row) => (row[key] > worst[key] ? row : worst), rows[0] as ShapeRow)
  const health = worst('healthMs')
  const growth = worst('growth')
  const failed = rows.filter(({ error }) => error !== null)
  return [
    {
      name: 'contents.healthz',
      value: health.healthMs,
      unit: 'ms',
      target: `<= ${HEALTH_MS_MAX}`,
      note: `the longest answer, with ${health.shape}, ${health.during}; ${rows.filter(({ healthMs }) => healthMs > HEALTH_MS_MAX).length} of ${rows.length} shapes above`,
    },
    {
      name: 'contents.growth',
      value: growth.growth,
      unit: 'times',
      target: `<= ${GROWTH_MAX}`,
      note: `time to settle of the largest size to the smallest, with ${growth.shape}; ${rows.filter(({ growth }) => growth > GROWTH_MAX).length} of ${rows.length} shapes above`,
    },
    {
      name: 'contents.failed',
      value: failed.length,
      unit: 'shapes',
      target: '<= 0',
      note: failed
        .map(({ shape, error }) => `${shape}: ${error}`)
        .join('; ')
        .slice(0, 2_000),
    },
  ]
}
