import { expect, onTestFinished, test, vi } from 'vitest'
import { PrintedFigures } from './printed-figures.js'

const missed = { name: 'appends.lost', value: 1, unit: 'messages', target: '<= 0' }

function printed() {
  const lines: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0)
  onTestFinished(() => write.mockRestore())
  return lines
}

test('a selected figure that misses its target is printed and makes the exit code 1, another one does not', async () => {
  const lines = printed()
  const figures = new PrintedFigures(() => {})
  await figures.ofRun('a run', ['appends.gaps'], (print) => print(missed))
  expect([lines, figures.exitCode]).toEqual([[], 0])
  await figures.ofRun('a run', ['appends.lost'], (print) => print(missed))
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ name: 'appends.lost', pass: false }])
  expect(figures.exitCode).toBe(1)
})

test('a run that fails is reported and makes the exit code 1, and the next one is printed', async () => {
  const lines = printed()
  const said: string[] = []
  const figures = new PrintedFigures((line) => said.push(line))
  await figures.ofRun('the run on postgres', ['appends.lost'], () => Promise.reject(new Error('no server')))
  await figures.ofRun('the run on redis', ['appends.lost'], (print) => print({ ...missed, value: 0 }))
  expect(said.join()).toContain('the run on postgres failed: Error: no server')
  expect(lines).toHaveLength(1)
  expect(figures.exitCode).toBe(1)
})
