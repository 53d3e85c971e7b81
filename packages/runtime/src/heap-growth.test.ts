import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { growthPercentOf } from './heap-growth.js'

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

test('a small heap is collected less often than if it grew by three tenths', () => {
  const module = new URL('./heap-growth.ts', import.meta.url).href
  const collections = (then = '') =>
    printed(`
      import { PerformanceObserver, constants } from 'node:perf_hooks'
      import { setFlagsFromString } from 'node:v8'
      import { limitHeapGrowth } from '${module}'
      limitHeapGrowth()
      ${then}
      let majors = 0
      const count = (entries) => {
        for (const { detail } of entries) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) majors++
      }
      const observer = new PerformanceObserver((list) => count(list.getEntries()))
      observer.observe({ entryTypes: ['gc'] })
      ${churn.replace('console.log', 'void ')}
      await new Promise((resolve) => setTimeout(resolve))
      count(observer.takeRecords())
      console.log(majors)`)
  expect(collections()).toBeLessThan(collections("setFlagsFromString('--heap-growing-percent=30')") * 0.8)
})

test('the growth in percent falls with the size of the heap', () => {
  const megabytes = [1, 60, 120, 200, 400]
  expect(megabytes.map((each) => growthPercentOf(each * 1024 * 1024))).toEqual([100, 100, 50, 30, 30])
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
