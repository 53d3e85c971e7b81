import { register } from 'node:module'

/*
 * Preloaded into a process whose walk is recorded: `node --import=probe.mjs`, with the checkout in HEDDLE_WALK_ROOT. Its
 * parent begins a record with the message `begin` and gets it with `end`.
 */

register('./probe-hooks.mjs', import.meta.url, { data: { root: process.env.HEDDLE_WALK_ROOT } })

/** The first call of each function since the record began, by place and name. @type {Map<string, object> | null} */
let calls = null

globalThis.heddleProbe = (place, name) => {
  if (calls === null) return
  const key = `${place}#${name}`
  if (!calls.has(key)) calls.set(key, { place, name, atMs: performance.timeOrigin + performance.now() })
}

process.on('message', (message) => {
  if (message === 'begin') calls = new Map()
  if (message !== 'end') return
  process.send?.({ calls: [...(calls ?? new Map()).values()] })
  calls = null
})
// A process that only listens to its parent may end.
process.channel?.unref()
