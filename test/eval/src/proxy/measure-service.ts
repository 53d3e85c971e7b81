import type { ProxyMode } from '@heddle/contracts'
import type { Measured } from '@heddle/test-support/figure'
import { openPipeline } from '../pipeline.js'
import { PROJECT } from '../sessions.js'
import { countedOnce, tokenRatio } from './calibration.js'
import { readClaudeSessions } from './claude-sessions.js'
import { type Door, directDoor } from './door.js'
import { type BilledMode, costFigures, faultFigures, type Replayed } from './figures.js'
import { ReplayClock } from './replay-clock.js'
import { type Bill, replaySession } from './replay-session.js'
import { type ProxyService, startProxyService } from './service-door.js'
import { sayTable } from './table.js'
import { readTauSessions } from './tau-sessions.js'

interface ServedMode extends BilledMode {
  readonly mode: ProxyMode
  /** Requests after which another process goes on. */
  readonly requestsOfProcess?: number
}

const modes: readonly ServedMode[] = [
  { name: 'observe', mode: 'observe', bars: { each: '<= 1' } },
  { name: 'stub', mode: 'stub', bars: { each: '<= 1' } },
  { name: 'compact', mode: 'compact', bars: { each: '<= 1', median: '<= 0.6' } },
  { name: 'restarted', mode: 'compact', requestsOfProcess: 10, bars: { each: '<= 1.01' } },
]

/**
 * The same sessions through the service over HTTP, with a store and all stages: what it sends is judged and priced as before, in
 * `observe` it has to be the bytes of the client.
 */
export async function measureProxyService(dataDir: string): Promise<Measured[]> {
  const counted = countedOnce()
  const { clientWith, store } = await openPipeline({})
  const client = clientWith({})
  const sessions = [...(await readClaudeSessions(dataDir, { isCompacted: true })), ...(await readTauSessions(dataDir))]
  const replayed: Replayed[] = []
  const passed: string[] = []
  let [requests, changed] = [0, 0]
  for (const session of sessions) {
    const ratio = tokenRatio(session, counted)
    const count = (text: string) => ratio * counted(text)
    const bills = new Map<string, Bill>()
    const direct = { door: directDoor(), count, areRecalled: false, clock: new ReplayClock() }
    bills.set('direct', await replaySession(session, direct))
    for (const { name, mode, requestsOfProcess } of modes) {
      const clock = new ReplayClock()
      const service = await startProxyService({ client, store }, PROJECT, clock)
      const compared = comparing(service.door(session, mode, name), (isEqual) => {
        if (name !== 'observe') return
        requests++
        if (!isEqual) changed++
      })
      const door = requestsOfProcess === undefined ? compared : restarting(compared, service, requestsOfProcess)
      try {
        bills.set(name, await replaySession(session, { door, count, areRecalled: mode !== 'observe', clock }))
      } finally {
        await service.close()
      }
      passed.push(...[...service.passed].map(([why, times]) => `${session.name} ${name}: ${times} ${why}`))
    }
    replayed.push({ session, bills })
    sayTable(`${session.name} through the service`, replayed.slice(-1))
  }
  return [
    ...faultFigures(replayed, modes, 'proxy.service'),
    {
      name: 'proxy.service.changed',
      value: changed,
      unit: 'requests',
      target: '<= 0',
      note: `of ${requests} recorded requests in observe, those that the provider got with other bytes`,
    },
    {
      name: 'proxy.service.passed',
      value: passed.length,
      unit: 'reasons',
      note: passed.length === 0 ? 'no request was sent as it came for a fault' : passed.slice(0, 10).join('; '),
    },
    ...costFigures(replayed, modes, { prefix: 'proxy.service', suffix: '' }),
  ]
}

function comparing(door: Door, onSent: (isEqual: boolean) => void): Door {
  return {
    ...door,
    async send(request, body) {
      const sent = await door.send(request, body)
      onSent(sent.body === body)
      return sent
    },
  }
}

function restarting(door: Door, service: ProxyService, requestsOfProcess: number): Door {
  let requests = 0
  return {
    ...door,
    async send(request, body) {
      if (requests++ > 0 && requests % requestsOfProcess === 0) await service.restart()
      return await door.send(request, body)
    },
  }
}

export function serviceNames(): string[] {
  const costs = modes.map(({ name }) => `proxy.service.cost.${name}`)
  return [
    'proxy.service.invalid',
    'proxy.service.prefix.broken',
    'proxy.service.changed',
    'proxy.service.passed',
    ...costs,
  ]
}
