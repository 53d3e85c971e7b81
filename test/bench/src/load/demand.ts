import { createClient, type RemoteClient } from '@heddle/client/http'
import type { StageName } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { inParallel } from '@heddle/test-support/parallel'
import { processTimes, treeSeconds } from '@heddle/test-support/process-times'
import type { Bench } from '../bench.js'
import { findPostmaster } from '../capacity/processor-times.js'
import { conversationOf } from '../contexts/conversation.js'
import { untilSettled } from '../settled.js'
import { startGatewayProcess } from './gateways.js'

const AGENT = 'demanding'
const THREADS = 60
const MESSAGES_EACH = 400
const MESSAGES_PER_APPEND = 20
const TURNS = 2_000
const CALLS_AT_ONCE = 16
const BUDGET = 16_000
/** Contexts before the turns: a process is slower while its code is compiled. */
const WARM_UP = 200

const stages = ['ingest', 'prune', 'summarize', 'embed', 'assemble'] as const satisfies readonly StageName[]
const parts = ['gateway', ...stages, 'postgres'] as const
type Part = (typeof parts)[number]
type PartTimes = Readonly<Record<Part, number>>

export const demandNames = ['message', 'turn'].flatMap((unit) => parts.map((part) => `demand.${unit}.${part}`))

/**
 * The processor time of each part of a deployment, with a process for each stage and one gateway, over HTTP: for a message
 * that is appended with 19 others, until all stages are done with it, and for a turn of an agent that appends one message and
 * requests a context of 16,000 tokens from a thread of 400 messages. Other load of the machine changes it little.
 */
export async function measureDemand(bench: Bench): Promise<Measured[]> {
  const workers = await Promise.all(stages.map(async (stage) => ({ stage, ...(await bench.startStages(stage)) })))
  try {
    const gateway = await startGatewayProcess(bench)
    try {
      return await measureParts(bench, workers, gateway)
    } finally {
      await gateway.stop()
    }
  } finally {
    await Promise.all(workers.map((each) => each.stop()))
  }
}

type Gateway = Awaited<ReturnType<typeof startGatewayProcess>>
type StageProcess = Awaited<ReturnType<Bench['startStages']>> & { readonly stage: (typeof stages)[number] }

async function measureParts(bench: Bench, workers: readonly StageProcess[], gateway: Gateway): Promise<Measured[]> {
  const client = createClient({ url: gateway.url })
  const server = await findPostmaster(bench)
  await client.agents.put(AGENT, { settings: { budget: BUDGET, rollingWindow: null } })

  const partTimes = async (): Promise<PartTimes> => {
    const spent = new Map<Part, number>()
    for (const { stage, cpuMs } of workers) spent.set(stage, await cpuMs())
    spent.set('gateway', (await gateway.usage()).cpuMs)
    spent.set('postgres', (treeSeconds(await processTimes(), server) ?? Number.NaN) * 1_000)
    return Object.fromEntries(spent) as PartTimes
  }
  const measured = async (unit: string, count: number, work: () => Promise<void>): Promise<Measured[]> => {
    const before = await partTimes()
    await work()
    await untilSettled(bench, 'demand-')
    const after = await partTimes()
    return parts.map((part) => ({
      name: `demand.${unit}.${part}.${bench.servers.backend}`,
      value: (after[part] - before[part]) / count,
      unit: 'ms',
    }))
  }

  const threads = Array.from({ length: THREADS }, (_, number) => `demand-${number}`)
  const messages = await measured('message', THREADS * MESSAGES_EACH, () =>
    inParallel(threads, CALLS_AT_ONCE, (thread, number) => converse(client, thread, number)),
  )
  const turnOf = async (number: number) => {
    const thread = threads[number % THREADS] ?? ''
    await client.messages.append({ agent: AGENT, thread, messages: conversationOf(1, number) })
    await client.contexts.build({ thread, budget: BUDGET, format: 'openai-chat' })
  }
  const turns = (count: number) => inParallel([...Array(count).keys()], CALLS_AT_ONCE, turnOf)
  await turns(WARM_UP)
  await untilSettled(bench, 'demand-')
  const turned = await measured('turn', TURNS, () => turns(TURNS))
  return [...messages, ...turned]
}

async function converse(client: RemoteClient, thread: string, number: number): Promise<void> {
  for (let first = 0; first < MESSAGES_EACH; first += MESSAGES_PER_APPEND) {
    const messages = conversationOf(MESSAGES_PER_APPEND, number * MESSAGES_EACH + first)
    await client.messages.append({ agent: AGENT, thread, messages })
  }
}
