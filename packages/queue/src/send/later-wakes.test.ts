import { AsyncLocalStorage } from 'node:async_hooks'
import type { WakeStageName } from '@heddle/contracts'
import { beforeEach, describe, expect, it } from 'vitest'
import { HELD_MS_MAX, LaterWakes, REST_MS } from './later-wakes.js'
import type { TracedWake } from './wakes.js'

const one: TracedWake = { projectId: 'project', threadId: 'one' }
const other: TracedWake = { projectId: 'project', threadId: 'other' }

let woken: [string, readonly WakeStageName[]][]
let timers: { readonly atMs: number; readonly call: () => void }[]
let nowMs: number
let wakes: LaterWakes

beforeEach(() => {
  woken = []
  timers = []
  nowMs = 0
  wakes = new LaterWakes({
    wake: ({ threadId }, stages) => woken.push([threadId, stages]),
    clock: {
      after(ms, call) {
        const timer = { atMs: nowMs + ms, call }
        timers.push(timer)
        return () => {
          timers = timers.filter((each) => each !== timer)
        }
      },
    },
  })
})

function pass(ms: number): void {
  nowMs += ms
  const due = timers.filter(({ atMs }) => atMs <= nowMs)
  timers = timers.filter(({ atMs }) => atMs > nowMs)
  for (const { call } of due) call()
}

describe('LaterWakes', () => {
  it('wakes the stages of a thread once, a little after its first append', () => {
    wakes.add(one, ['prune'])
    pass(REST_MS - 1)
    wakes.add(one, ['embed', 'prune'])
    wakes.add(other, ['prune'])
    expect(woken).toEqual([])
    pass(1)
    expect(woken).toEqual([['one', ['prune', 'embed']]])
    pass(REST_MS)
    expect(woken).toEqual([
      ['one', ['prune', 'embed']],
      ['other', ['prune']],
    ])
  })

  it('waits for the contexts of the thread, and for no others', () => {
    const ends = [wakes.hold('one'), wakes.hold('one')]
    wakes.add(one, ['prune'])
    wakes.add(other, ['prune'])
    pass(REST_MS)
    expect(woken).toEqual([['other', ['prune']]])
    ends[0]?.()
    expect(woken).toHaveLength(1)
    ends[1]?.()
    expect(woken[1]).toEqual(['one', ['prune']])
    pass(HELD_MS_MAX)
    expect(woken).toHaveLength(2)
  })

  it('rests after an append, also if its context was built sooner', () => {
    wakes.add(one, ['prune'])
    wakes.hold('one')()
    expect(woken).toEqual([])
    pass(REST_MS)
    expect(woken).toHaveLength(1)
  })

  it('waits at most a second for contexts', () => {
    const end = wakes.hold('one')
    wakes.add(one, ['prune'])
    pass(REST_MS)
    pass(HELD_MS_MAX - REST_MS - 1)
    expect(woken).toEqual([])
    pass(1)
    expect(woken).toHaveLength(1)
    end()
    expect(woken).toHaveLength(1)
  })

  it('keeps the traces of all appends that it waits for', () => {
    const carriers: (string | undefined)[] = []
    const traced = new LaterWakes({
      wake: ({ carrier }) => carriers.push(carrier),
      clock: { after: () => () => {} },
    })
    const carrier = (digit: string) => `{"traceparent":"00-${digit.repeat(32)}-${digit.repeat(16)}-01"}`
    traced.add({ ...one, carrier: carrier('1') }, ['prune'])
    traced.add({ ...one, carrier: carrier('2') }, ['prune'])
    traced.close()
    expect(carriers).toHaveLength(1)
    expect(carriers[0]).toContain('1'.repeat(32))
    expect(carriers[0]).toContain('2'.repeat(32))
  })

  it('wakes in the trace of the append, and not in that of the context that ends the wait', () => {
    const traces = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    let rest = () => {}
    const traced = new LaterWakes({
      wake: () => seen.push(traces.getStore()),
      clock: {
        after(_, call) {
          rest = call
          return () => {}
        },
      },
    })
    traces.run('append', () => traced.add(one, ['prune']))
    const end = traced.hold('one')
    rest()
    traces.run('context', end)
    expect(seen).toEqual(['append'])
  })

  it('ends a hold once, however often its end is called', () => {
    const [end] = [wakes.hold('one'), wakes.hold('one')]
    wakes.add(one, ['prune'])
    pass(REST_MS)
    end?.()
    end?.()
    expect(woken).toEqual([])
  })

  it('wakes all threads when it closes, and later ones at once', () => {
    wakes.hold('one')
    wakes.add(one, ['prune'])
    wakes.close()
    expect(woken).toHaveLength(1)
    wakes.add(other, ['prune'])
    expect(woken).toHaveLength(2)
    expect(timers).toEqual([])
  })
})
