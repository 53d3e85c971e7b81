import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const module = fileURLToPath(new URL('./process-priority.ts', import.meta.url))

// In a process of its own: a lowered priority cannot be raised again.
it('lowers the priority of all threads of a process', () => {
  const script = `
    import { getPriority } from 'node:os'
    import { readdirSync } from 'node:fs'
    const { lowerProcessPriority } = await import(${JSON.stringify(module)})
    const isDone = lowerProcessPriority(7)
    const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0]
    console.log(JSON.stringify({ isDone, kinds: [...new Set(threads.map((thread) => getPriority(thread)))] }))`
  const told = execFileSync(process.execPath, ['--import=tsx', '--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  expect(JSON.parse(told)).toEqual({ isDone: true, kinds: [7] })
})
