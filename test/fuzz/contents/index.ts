import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@heddle/client/http'
import { contentShapes } from '@heddle/test-support/content-shapes/index'
import { type Door, openDoor } from '../door.js'
import { Health } from './health.js'
import { processorTimes, shareOfOthers } from './machine-load.js'
import { type Place, passContent } from './one-content.js'
import { passShape } from './pass-shape.js'
import type { ShapeRow } from './shape-row.js'

export interface ContentsOptions {
  /** Of shapes, in the order in which they are measured. */
  readonly names: readonly string[]
  /** In megabytes, in ascending order. */
  readonly sizes: readonly number[]
  /** For CPU profiles of the server; null for no profiles. */
  readonly profilesFolder: string | null
  readonly say: (line: string) => void
  readonly onShape: (row: ShapeRow) => Promise<void>
}

export interface ShapeSelection {
  /** Names of shapes, or prefixes of them with `*`; null for all. */
  readonly shapes: readonly string[] | null
  /** Which of how many parts, each of which has shapes of all kinds. */
  readonly part: { readonly number: number; readonly of: number }
}

/** Contents in one store, so that earlier ones have little effect. */
const SHAPES_PER_SERVER = 24
const CALL_MS_MAX = 300_000
const SERVER_ARGUMENT = new URL('loop-meter.mjs', import.meta.url)

/** @throws Error if no shape has such a name */
export function selectShapes({ shapes, part }: ShapeSelection): string[] {
  const names = Object.keys(contentShapes).filter((name) => shapes === null || isNamed(name, shapes))
  if (names.length === 0) throw new Error(`no shape is called ${shapes?.join(' or ')}`)
  return names.filter((_, index) => index % part.of === part.number - 1)
}

function isNamed(name: string, shapes: readonly string[]): boolean {
  return shapes.some((wanted) => name === wanted || (wanted.endsWith('*') && name.startsWith(wanted.slice(0, -1))))
}

/** Sends contents of shapes and sizes through a new `heddle up`, and measures the delays for other clients meanwhile. */
export async function fuzzContents({ names, sizes, profilesFolder, say, onShape }: ContentsOptions): Promise<void> {
  const commit = checkedOutCommit()
  let done = 0
  for (let from = 0; from < names.length; from += SHAPES_PER_SERVER) {
    await onServer(profilesFolder, async (place, door) => {
      for (const name of names.slice(from, from + SHAPES_PER_SERVER)) {
        const startedMs = performance.now()
        const before = await processorTimes()
        const row = await passShape(place, name, sizes)
        const othersShare = shareOfOthers(before, await processorTimes())
        const tookMs = Math.round(performance.now() - startedMs)
        await onShape({ ...row, tookMs, othersShare: othersShare && Number(othersShare.toFixed(3)), commit })
        say(`${++done} of ${names.length}: ${name}`)
        if (door.ended !== null) throw new Error(`heddle up ended: ${JSON.stringify(door.ended)}`)
      }
    })
  }
}

async function onServer(
  profilesFolder: string | null,
  work: (place: Place, door: Door) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-contents-'))
  const door = await openDoor({ modules: [SERVER_ARGUMENT], profilesFolder })
  const health = await Health.open(door.url, door.process)
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

function checkedOutCommit(): string | null {
  try {
    const describe = ['describe', '--always', '--dirty', '--exclude', '*']
    return execFileSync('git', describe, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return null
  }
}
