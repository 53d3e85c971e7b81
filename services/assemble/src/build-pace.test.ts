import { expect, test } from 'vitest'
import { BuildPace, BuildPaces } from './build-pace.js'

const BUILDS_PER_SECOND = 4
const DEADLINE_MS = 10_000
const OUTAGE_MS = 30_000
const STEP_MS = 20
const SLOTS = 16

interface Build {
  readonly deadlineAtMs: number
  readonly beganAtMs: number
  leftMs: number
  end(): void
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

/**
 * A process whose builds share one processor, after an outage and under a steady load.
 *
 * @param load the requests of a second, as a multiple of what the process can build
 * @returns the part of the requests whose contexts were ready in time
 */
async function partInTime({ load, isRefusing }: { load: number; isRefusing: boolean }): Promise<number> {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs }
  const pace = new BuildPace(clock)
  const waiting: number[] = []
  let running: Build[] = []
  let requests = 0
  let inTime = 0
  const begin = async (deadlineAtMs: number, nowMs: number) =>
    await pace.run(async (neededMs) => {
      if (deadlineAtMs - (isRefusing ? neededMs : 0) <= nowMs) return
      // From a half to one and a half of the mean.
      const leftMs = (1_000 / BUILDS_PER_SECOND) * (0.5 + ((requests * 7) % 11) / 10)
      await new Promise<void>((end) => running.push({ deadlineAtMs, beganAtMs: nowMs, leftMs, end }))
    })
  for (let nowMs = 0; nowMs < 300_000; nowMs += STEP_MS) {
    clock.nowMs = nowMs
    for (; requests / (BUILDS_PER_SECOND * load) <= nowMs / 1_000; requests++) waiting.push(nowMs + DEADLINE_MS)
    while (running.length < SLOTS && waiting.length > 0) {
      void begin(waiting.shift() ?? 0, nowMs)
      // A refused request has released its slot.
      await settled()
    }
    if (nowMs < OUTAGE_MS) continue
    for (const build of running) build.leftMs -= STEP_MS / running.length
    for (const { deadlineAtMs, beganAtMs, end } of running.filter(({ leftMs }) => leftMs <= 0)) {
      pace.note(nowMs - beganAtMs)
      if (nowMs <= deadlineAtMs) inTime++
      end()
    }
    running = running.filter(({ leftMs }) => leftMs > 0)
    await settled()
  }
  return inTime / requests
}

test('a process with twice the requests that it can build uses most of its time for those that it can answer', async () => {
  expect(await partInTime({ load: 2, isRefusing: false })).toBeLessThan(0.1)
  expect(await partInTime({ load: 2, isRefusing: true })).toBeGreaterThan(0.35)
})

test('a process that can build what is requested answers nearly all of it after an outage', async () => {
  expect(await partInTime({ load: 0.8, isRefusing: true })).toBeGreaterThan(0.8)
})

test('a request needs twice the mean of the latest builds, if four others are being built', async () => {
  const pace = new BuildPace({ monotonicMs: () => 0 })
  pace.note(5_000)
  const needs: number[] = []
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const builds = Array.from({ length: 5 }, () =>
    pace.run((neededMs) => {
      needs.push(neededMs)
      return ended
    }),
  )
  expect(needs).toEqual([0, 0, 0, 0, 10_000])
  end()
  await Promise.all(builds)
  for (let each = 0; each < 50; each++) pace.note(100)
  await Promise.all([...builds, ...Array.from({ length: 5 }, () => pace.run(async (neededMs) => needs.push(neededMs)))])
  expect(needs.at(-1)).toBeLessThan(300)
})

/** @returns what a fifth build would need while four others run */
async function neededBeside(pace: BuildPace): Promise<number> {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const running = Array.from({ length: 4 }, () => pace.run(() => ended))
  const needed = await pace.run(async (neededMs) => neededMs)
  end()
  await Promise.all(running)
  return needed
}

test('slow builds of one project, or elsewhere, say nothing of those of another one', async () => {
  const paces = new BuildPaces({ monotonicMs: () => 0 })
  paces.of('slow', 'here').note(10_000)
  expect(await neededBeside(paces.of('slow', 'here'))).toBe(20_000)
  expect(await neededBeside(paces.of('slow', 'elsewhere'))).toBe(0)
  expect(await neededBeside(paces.of('other', 'here'))).toBe(0)
})

test('a delay that is over is soon forgotten, and at once after ten seconds without a build', async () => {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs }
  const pace = new BuildPace(clock)
  pace.note(20_000)
  for (let each = 0; each < 10; each++) pace.note(50)
  expect(await neededBeside(pace)).toBeLessThan(3_000)
  clock.nowMs = 11_000
  expect(await neededBeside(pace)).toBe(0)
  pace.note(50)
  expect(await neededBeside(pace)).toBe(100)
})
