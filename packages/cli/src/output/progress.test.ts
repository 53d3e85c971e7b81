import { expect, test } from 'vitest'
import { createProgress, type ProgressOptions } from './progress.js'

function progressIn(form: ProgressOptions['form']) {
  const written: string[] = []
  let nowMs = 0
  const progress = createProgress({
    label: 'messages stored',
    total: 1_000,
    rate: true,
    form,
    stream: process.stderr,
    write: (text) => written.push(text),
    nowMs: () => nowMs,
  })
  const at = (ms: number, done: number) => {
    nowMs = ms
    progress.update(done)
  }
  return { written, at, progress }
}

test('programs get a line every five seconds with the work done and left, the rate and the time left', () => {
  const { written, at, progress } = progressIn('json')
  at(2_000, 100)
  at(5_000, 250)
  at(6_000, 300)
  at(10_000, 500)
  progress.stop()
  at(20_000, 1_000)
  expect(written.map((line) => JSON.parse(line))).toEqual([
    { progress: { label: 'messages stored', done: 250, total: 1_000, left: 750, perSecond: 50, secondsLeft: 15 } },
    { progress: { label: 'messages stored', done: 500, total: 1_000, left: 500, perSecond: 50, secondsLeft: 10 } },
  ])
  expect(written.every((line) => line.endsWith('\n'))).toBe(true)
})

test('nothing is printed for the form none', () => {
  const { written, at } = progressIn('none')
  at(60_000, 500)
  expect(written).toEqual([])
})
