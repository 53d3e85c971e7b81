import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects all garbage, twice for what hangs on weak maps. Needs no option of Node: the function is shown to contexts that are made from now on. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
}

/** Bytes of the heap that are still in use when some work is over: what its caches keep. */
export async function retainedBytes(work: () => void | Promise<void>): Promise<number> {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  await work()
  collectGarbage()
  return process.memoryUsage().heapUsed - before
}
