import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { dismiss } from '@heddle/test-support/forked'
import type { Bench } from '../bench.js'
import type { DelayAnswer, GatewayAnswer, GatewayOrder, UsageAnswer } from './gateway-process.js'

export interface GatewayProcess {
  readonly url: string
  /** The delay of its event loop since the last call: the 99th percentile. */
  delayMs(): Promise<number>
  /** Its memory and processor time. */
  usage(): Promise<UsageAnswer>
  stop(): Promise<void>
}

const script = fileURLToPath(new URL('./gateway-process.js', import.meta.url))

export async function startGatewayProcess(
  { servers, place }: Bench,
  { upstream, env }: { readonly upstream?: string; readonly env?: GatewayOrder['env'] } = {},
): Promise<GatewayProcess> {
  const profile = process.env['HEDDLE_BENCH_PROFILE']
  const execArgv = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const child = fork(script, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv })
  const { databaseUrl, databases, queue } = servers
  child.send({ databaseUrl, databases, queue, prefix: place.prefix, upstream, env } satisfies GatewayOrder)
  const [{ url }] = (await once(child, 'message')) as [GatewayAnswer]
  return {
    url,
    async delayMs() {
      const answered = once(child, 'message') as Promise<[DelayAnswer]>
      child.send('delay')
      return (await answered)[0].delayMs
    },
    async usage() {
      const answered = once(child, 'message') as Promise<[UsageAnswer]>
      child.send('usage')
      return (await answered)[0]
    },
    stop: () => dismiss(child),
  }
}
