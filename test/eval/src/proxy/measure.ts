import type { Measured } from '@heddle/test-support/figure'
import type { CountText } from '@heddle/test-support/providers/request-parts'
import { countedOnce, tokenRatio, tokensOf } from './calibration.js'
import { readClaudeSessions } from './claude-sessions.js'
import { compactingClient } from './compacting-client.js'
import { type Door, directDoor, maskingDoor } from './door.js'
import { type BilledMode, costFigures, faultFigures, type Replayed } from './figures.js'
import { proxyDoor } from './proxy-door.js'
import { ReplayClock } from './replay-clock.js'
import { type Bill, replaySession } from './replay-session.js'
import type { ReplaySession } from './session.js'
import { sayTable } from './table.js'
import { readTauSessions } from './tau-sessions.js'

interface Mode extends BilledMode {
  open(session: ReplaySession, clock: ReplayClock, count: CountText): Door | Promise<Door>
  readonly areRecalled: boolean
}

const modes: readonly Mode[] = [
  { name: 'direct', open: directDoor, areRecalled: false, bars: {} },
  { name: 'mask', open: maskingDoor, areRecalled: true, bars: {} },
  {
    name: 'client',
    open: (session, _clock, count) => compactingClient(session, (body) => tokensOf(session, body, count)),
    // Its summary is generated text, which no name of an agent is in.
    areRecalled: false,
    bars: {},
  },
  { name: 'observe', open: (session, clock) => proxyDoor(session, 'observe', clock), areRecalled: true, bars: {} },
  {
    name: 'stub',
    open: (session, clock) => proxyDoor(session, 'stub', clock),
    areRecalled: true,
    bars: { each: '<= 1' },
  },
  {
    name: 'compact',
    open: (session, clock) => proxyDoor(session, 'compact', clock),
    areRecalled: true,
    bars: { each: '<= 1', median: '<= 0.6' },
  },
]

export const proxyModes = modes.map(({ name }) => name)

/**
 * The cost of recorded sessions at a simulated provider: as their clients sent them, with two remedies that need no proxy, and through
 * the proxy's modes. Once with the compactions of the recorded clients, once as a client sends them that never compacts.
 */
export async function measureProxy(dataDir: string): Promise<Measured[]> {
  const count = countedOnce()
  const tau = await readTauSessions(dataDir)
  const measured: Measured[] = []
  const all: Replayed[] = []
  for (const isCompacted of [true, false]) {
    const suffix = isCompacted ? '' : '.unbounded'
    const sessions = await readClaudeSessions(dataDir, { isCompacted })
    const replayed = await replayAll(isCompacted ? [...sessions, ...tau] : sessions, count)
    all.push(...replayed)
    sayTable(isCompacted ? 'with the compactions of the clients' : 'without compactions of the clients', replayed)
    measured.push(...costFigures(replayed, modes, { prefix: 'proxy', suffix }))
  }
  return [...faultFigures(all, modes, 'proxy'), ...measured]
}

async function replayAll(sessions: readonly ReplaySession[], counted: CountText): Promise<Replayed[]> {
  const replayed: Replayed[] = []
  for (const session of sessions) {
    const ratio = tokenRatio(session, counted)
    const count: CountText = (text) => ratio * counted(text)
    const bills = new Map<string, Bill>()
    for (const { name, open, areRecalled } of modes) {
      const clock = new ReplayClock()
      const door = await open(session, clock, count)
      bills.set(name, await replaySession(session, { door, count, areRecalled, clock }))
      await door.close?.()
    }
    replayed.push({ session, bills })
  }
  return replayed
}
