import { expect, test } from 'vitest'
import { Computations, runCooperatively } from './computations.js'

/** A clock that only the steps of computations, and other work, move on. */
function simulated() {
  let nowMs = 0
  const spend = (ms: number) => {
    nowMs += ms
  }
  const usedMs: Record<string, number> = {}
  function* steps(name: string, count: number, stepMs: number): Generator<undefined, string> {
    usedMs[name] = 0
    for (let step = 0; step < count; step++) {
      spend(stepMs)
      usedMs[name] += stepMs
      yield
    }
    return name
  }
  return { computations: new Computations(() => nowMs), spend, usedMs, steps, nowMs: () => nowMs }
}

/** Calls a function in each iteration of the event loop, until it is stopped. */
function inEachIteration(work: () => void): () => void {
  let isOver = false
  const iterate = () => {
    work()
    if (!isOver) setImmediate(iterate)
  }
  setImmediate(iterate)
  return () => {
    isOver = true
  }
}

test('a short computation ends in the iteration in which it began', async () => {
  const { computations, steps } = simulated()
  let iterations = 0
  const stop = inEachIteration(() => iterations++)
  expect(await computations.run(steps('short', 3, 0.05))).toBe('short')
  expect(iterations).toBe(0)
  stop()
})

test('several computations have together, in one iteration, the time of one', async () => {
  const { computations, steps, nowMs } = simulated()
  let before = nowMs()
  let longestMs = 0
  const stop = inEachIteration(() => {
    longestMs = Math.max(longestMs, nowMs() - before)
    before = nowMs()
  })
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => computations.run(steps(name, 50, 0.1))))
  stop()
  expect(longestMs).toBeGreaterThanOrEqual(1)
  expect(longestMs).toBeLessThan(1.4)
})

test('time is shared and not steps: one with short steps does not wait for those with long ones', async () => {
  const { computations, steps, usedMs } = simulated()
  const coarse = computations.run(steps('coarse', 100, 6))
  const fine = computations.run(steps('fine', 1_000, 0.03))
  await fine
  expect(usedMs['fine']).toBeCloseTo(30)
  expect(usedMs['coarse']).toBeLessThanOrEqual(30 + 6 + 6)
  await coarse
})

test('one that is added later has its part at once, and no more than that', async () => {
  const { computations, steps, usedMs } = simulated()
  const early = computations.run(steps('early', 1_000, 0.1))
  while ((usedMs['early'] ?? 0) < 50) await new Promise((resolve) => setImmediate(resolve))
  const beforeMs = usedMs['early'] ?? 0
  await computations.run(steps('late', 100, 0.1))
  expect((usedMs['early'] ?? 0) - beforeMs).toBeGreaterThan(8)
  expect((usedMs['early'] ?? 0) - beforeMs).toBeLessThan(12)
  await early
})

test('computations have as much of a busy iteration as its other work, up to four milliseconds', async () => {
  const shareBeside = async (othersMs: number) => {
    const { computations, steps, spend, usedMs, nowMs } = simulated()
    const stop = inEachIteration(() => spend(othersMs))
    const startedMs = nowMs()
    await computations.run(steps('one', 400, 0.1))
    stop()
    return (usedMs['one'] ?? 0) / (nowMs() - startedMs)
  }
  expect(await shareBeside(3)).toBeCloseTo(0.5, 1)
  expect(await shareBeside(12)).toBeCloseTo(0.25, 1)
})

test('one that fails is over, and the others go on', async () => {
  const { computations, steps } = simulated()
  const fault = new Error('a step failed')
  function* failing(): Generator<undefined, never> {
    for (let step = 0; step < 20; step++) yield* steps('before', 1, 0.2)
    throw fault
  }
  const other = computations.run(steps('other', 100, 0.2))
  await expect(computations.run(failing())).rejects.toBe(fault)
  expect(await other).toBe('other')
})

test('one that is aborted ends at its next yield, and is closed', async () => {
  const { computations, steps } = simulated()
  const ending = new AbortController()
  let isClosed = false
  function* endless(): Generator<undefined, never> {
    try {
      for (;;) yield* steps('endless', 1, 0.2)
    } finally {
      isClosed = true
    }
  }
  const running = computations.run(endless(), ending.signal)
  await new Promise((resolve) => setImmediate(resolve))
  const reason = new Error('no longer needed')
  ending.abort(reason)
  await expect(running).rejects.toBe(reason)
  expect(isClosed).toBe(true)
})

test('a computation of its own time runs to its end, and other work runs meanwhile', async () => {
  let others = 0
  const stop = inEachIteration(() => others++)
  function* steps(): Generator<undefined, string> {
    while (others < 3) yield
    return 'done'
  }
  expect(await runCooperatively(steps(), { turnMs: 10 })).toBe('done')
  stop()
})
