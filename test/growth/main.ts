import { parseArgs } from 'node:util'
import { contentShapes } from '@heddle/test-support/content-shapes/index'
import { slopeOf, slownessOf } from './measure.js'
import { passes } from './passes.js'

const USAGE = `npm run growth -- [--only NAME] [--shape NAME] [--bytes N]

  --only NAME     passes whose names contain this
  --shape NAME    shapes whose names contain this; several separated by commas
  --bytes N       size of the larger text; default 262,144. The smaller one is a quarter of it

Runs every pass over contents on every shape of contents, in two sizes, and prints one line of JSON for each pass
whose time grows faster than the text, or exceeds a second of CPU for a megabyte (longer on a slow machine).
Exit code 0 without such a pass, 1 with one, 2 for wrong arguments.`
const BYTES_DEFAULT = 262_144
const BYTES_MIN = 16_384
const FACTOR = 4
/** Shorter times are dominated by garbage collection. */
const FLOOR_MS = 40

async function main(): Promise<number> {
  const given = readArguments()
  if (given === null) {
    process.stderr.write(`${USAGE}\n`)
    return 2
  }
  let measured = 0
  let found = 0
  for (const [pass, run] of Object.entries(passes).filter(([name]) => name.includes(given.only))) {
    for (const [shape, grow] of Object.entries(contentShapes).filter(([name]) =>
      given.shapes.some((shape) => name.includes(shape)),
    )) {
      const slope = await slopeOf(run, grow, {
        bytesMax: given.bytes,
        factor: FACTOR,
        floorMs: FLOOR_MS,
        slowness: slownessOf,
      })
      measured++
      if (!slope.isTooSteep && !slope.isTooSlow) continue
      found++
      process.stdout.write(`${JSON.stringify({ pass, shape, ...slope })}\n`)
    }
  }
  process.stdout.write(`${JSON.stringify({ name: 'growth.faults', value: found, measured, pass: found === 0 })}\n`)
  return found === 0 ? 0 : 1
}

function readArguments(): { only: string; shapes: readonly string[]; bytes: number } | null {
  try {
    const { values } = parseArgs({
      options: { only: { type: 'string' }, shape: { type: 'string' }, bytes: { type: 'string' } },
    })
    const bytes = Number(values.bytes ?? BYTES_DEFAULT)
    if (!Number.isSafeInteger(bytes) || bytes < BYTES_MIN) return null
    return { only: values.only ?? '', shapes: (values.shape ?? '').split(','), bytes }
  } catch {
    return null
  }
}

process.exitCode = await main()
