import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Keeps 60 MB, replaces a part of it repeatedly, and prints the maximum heap size, in megabytes. */
const churn = `
  const kept = Array.from({ length: 600 }, () => new Array(12_800).fill(1))
  let most = 0
  for (let round = 0; round < 6_000; round++) {
    kept[round % 600] = new Array(12_800).fill(round)
    if (round % 20 === 0) most = Math.max(most, process.memoryUsage().heapTotal)
  }
  console.log(Math.round(most / 1e6))`

function printed(script: string): number {
  const loader = ['--conditions=heddle:source', `--import=${import.meta.resolve('tsx')}`]
  return Number(execFileSync(process.execPath, [...loader, '--input-type=module', '-e', script], { encoding: 'utf8' }))
}

test('a heap with limited growth is little larger than the live objects', () => {
  const module = new URL('./heap-growth.ts', import.meta.url).href
  expect(printed(`import { limitHeapGrowth } from '${module}'; limitHeapGrowth()\n${churn}`)).toBeLessThan(250)
})

test('a heap that is kept small has the same space for new objects as at its start', () => {
  const module = new URL('./heap-growth.ts', import.meta.url).href
  const survivors = `
    import { getHeapSpaceStatistics } from 'node:v8'
    const newSpaceBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
    const before = newSpaceBytes()
    let kept = []
    for (let round = 0; round < 2_000_000; round++) {
      kept.push({ round })
      if (kept.length > 100_000) kept = []
    }
    console.log(newSpaceBytes() / before)`
  const call = (name: string) => `import { ${name} } from '${module}'; ${name}()`
  expect(printed(`${call('keepHeapSmall')}\n${survivors}`)).toBeLessThan(3)
  expect(printed(`${call('keepHeapSmall')}\n${call('limitHeapGrowth')}\n${survivors}`)).toBeGreaterThan(3)
})
