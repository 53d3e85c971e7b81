import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects all garbage, twice because of weak maps. It needs no option of Node: new contexts get the function `gc`. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
}

/** Bytes of the heap that are still in use after some work: the contents of its caches. */
export async function retainedBytes(work: () => void | Promise<void>): Promise<number> {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  await work()
  collectGarbage()
  return process.memoryUsage().heapUsed - before
}
