import { hiddenReason } from '@heddle/core'
import { clearAgent, countWindow, findOutsideWindows, loadMessagesBySeq, loadThread, putAgent } from '@heddle/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { append, appendOne, leaveMarks, PROJECT, prepared, RECEIVED_AT_MS, storeOfTests } from '../support.js'

const database = storeOfTests()

let names = 0
const freshNames = () => ({ agent: `agent ${++names}`, thread: `window counts ${names}` })
const DAY_S = 86_400

const ofAges = (agesS: readonly number[], fields = {}) =>
  agesS.map((ageS, ordinal) => prepared(fields, { ordinal, orderedAtMs: RECEIVED_AT_MS - ageS * 1_000 }))

describe('countWindow', () => {
  it('counts each message once: in the window, hidden by the clear, or hidden by the rolling window', async () => {
    const age = fc.nat({ max: 20 })
    const scenario = fc.record({
      before: fc.array(age, { maxLength: 12 }),
      clearedS: fc.option(age),
      after: fc.array(age, { minLength: 1, maxLength: 12 }),
      // The messages that each of some restores brings back, and its time: they may all be in the window already.
      restores: fc.array(fc.record({ ageS: age, places: fc.uniqueArray(fc.nat({ max: 23 }), { maxLength: 6 }) }), {
        maxLength: 3,
      }),
      rollingWindow: fc.option(fc.integer({ min: 1, max: 21 })),
      nowS: fc.nat({ max: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ before, clearedS, after, restores, rollingWindow, nowS }) => {
        const own = freshNames()
        const send = (agesS: number[], fields = {}) => appendOne(database.store, append(ofAges(agesS, fields), own))
        // A message that is kept aside is in no count, whatever its place.
        await send([20], { role: 'error' })
        if (before.length > 0) await send(before)
        const { threadId } = await send([0], { role: 'error' })
        await database.store.inProject(PROJECT, async (tx) => {
          const agentId = (await loadThread(tx, { threadId }))?.agentId ?? ''
          const clearedAtMs = RECEIVED_AT_MS - (clearedS ?? 0) * 1_000
          if (clearedS !== null) await clearAgent(tx, { agentId, clearedAtMs, receivedAtMs: RECEIVED_AT_MS })
        })
        await send(after)
        const inProject = database.store.inProject.bind(database.store)
        const sent = await inProject(PROJECT, (tx) => loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 100 }))
        const ids = sent.filter(({ role }) => role !== 'error').map(({ id }) => id)
        for (const { ageS, places } of restores) {
          const chosen = places.flatMap((place) => ids[place] ?? [])
          const orderedAtMs = RECEIVED_AT_MS - ageS * 1_000
          await leaveMarks(database.store, threadId, { ids: chosen, orderedAtMs })
        }
        await database.store.inProject(PROJECT, async (tx) => {
          const thread = await loadThread(tx, { threadId })
          if (thread === null) throw new Error('no thread')
          const window = { ...thread, rollingWindow, nowMs: RECEIVED_AT_MS + nowS * 1_000 }
          const all = await loadMessagesBySeq(tx, { threadId, afterSeq: 0, limit: 100 })
          const eligible = all.filter(({ role }) => role !== 'error')
          const reasons = new Map<number, (string | null)[]>()
          for (const message of eligible) {
            const seq = message.restores?.seq ?? message.seq
            reasons.set(seq, [...(reasons.get(seq) ?? []), hiddenReason(message, window)])
          }
          // A message with several places is hidden if all of them are, by the rule that hides the last.
          const reasonOf = (found: (string | null)[]) =>
            [null, 'outside-window', 'before-clear'].find((reason) => found.includes(reason))
          const hidden = [...reasons.values()].map(reasonOf)
          const count = (wanted: string | null) => hidden.filter((reason) => reason === wanted).length
          const counts = await countWindow(tx, window)
          expect(counts).toMatchObject({
            outsideWindow: count('outside-window'),
            beforeClear: count('before-clear'),
            inWindow: { eligible: count(null) },
            imported: ids.length,
          })
          const { inWindow, outsideWindow, beforeClear, imported } = counts
          expect(inWindow.eligible + outsideWindow + beforeClear).toBe(imported)
        })
      }),
      { numRuns: 60 },
    )
  })
})

describe('findOutsideWindows', () => {
  it('names agents with threads whose newest message is older than the window of the thread', async () => {
    const daysOld = (days: number) => ofAges([days * DAY_S])
    const [old, young, wide, mixed] = [freshNames(), freshNames(), freshNames(), freshNames()]
    await database.store.inProject(PROJECT, (tx) =>
      putAgent(tx, { projectId: PROJECT, name: wide.agent, settings: { rollingWindow: null } }),
    )
    await appendOne(database.store, append(daysOld(2), old))
    await appendOne(database.store, append(daysOld(0.5), young))
    await appendOne(database.store, append(daysOld(300), wide))
    await appendOne(database.store, append(daysOld(2), mixed))
    await appendOne(database.store, append([...daysOld(2), ...daysOld(0)], { ...mixed, thread: `${mixed.thread} b` }))
    const find = async (rollingWindow: number | null) => {
      const agents = await database.store.inProject(PROJECT, (tx) =>
        findOutsideWindows(tx, { nowMs: RECEIVED_AT_MS, rollingWindow }),
      )
      const own = [old, young, wide, mixed].map(({ agent }) => agent)
      return agents.filter(({ agent }) => own.includes(agent))
    }
    expect(await find(DAY_S)).toEqual([
      { agent: old.agent, threads: 1, outside: 1 },
      { agent: mixed.agent, threads: 2, outside: 1 },
    ])
    expect((await find(DAY_S / 4)).map(({ agent }) => agent)).toEqual([old.agent, young.agent, mixed.agent])
    expect(await find(null)).toEqual([])
  })
})
