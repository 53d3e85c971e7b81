import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/support/src/property-runs.js'
import { KnownPrefixes } from './known-prefixes.js'
import { RequestReader } from './read-request.js'

const entry = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.array(fc.record({ type: fc.constant('text'), text: fc.string({ maxLength: 20 }) }), { maxLength: 2 }),
  ),
})

/** The difference between two requests of a client. */
const change = fc.record({
  added: fc.array(entry, { maxLength: 3 }),
  /** Entries at the end that are dropped first. */
  dropped: fc.constantFrom(0, 0, 0, 1, 4),
  /** A mark of the cache at an entry, counted from the end. */
  marked: fc.option(fc.nat({ max: 3 })),
  cut: fc.constantFrom(0, 0, 0, 3, 40),
  /** A new way to write the rest of the body. */
  form: fc.option(
    fc.record({
      model: fc.constantFrom('m', 'longer-model'),
      space: fc.constantFrom('', ' ', '\n'),
      listsBefore: fc.constantFrom(0, 1),
    }),
    { freq: 1 },
  ),
})

test('a reader that knows earlier requests reads the same as a new one', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 60 }),
      fc.array(change, { minLength: 2, maxLength: 8, size: 'max' }),
      fc.constantFrom('anthropic', 'openai-chat', 'openai-responses'),
      (stepBytes, changes, protocol) => {
        const reader = new RequestReader(new KnownPrefixes(stepBytes))
        const list = protocol === 'openai-responses' ? 'input' : 'messages'
        const entries: object[] = []
        let { model, space, listsBefore } = { model: 'm', space: '', listsBefore: 0 }
        for (const { added, dropped, marked, cut, form } of changes) {
          if (form !== null) ({ model, space, listsBefore } = form)
          entries.splice(entries.length - dropped, dropped)
          entries.push(...added)
          const sent = entries.map((each, index) =>
            index === entries.length - 1 - (marked ?? Number.NaN)
              ? { ...each, cache_control: { type: 'ephemeral' } }
              : each,
          )
          const lists = Array.from({ length: listsBefore }, () => `"${list}":[{"role":"user","content":"first"}],`)
          const whole = `${space}{"model":"${model}",${lists.join('')}"${list}":${space}${JSON.stringify(sent)}${space},"tools":[{"name":"t"}]}`
          const body = Buffer.from(whole.slice(0, whole.length - cut))
          expect(reader.read(protocol, body)).toEqual(new RequestReader().read(protocol, body))
        }
      },
    ),
    { numRuns: propertyRuns(50) },
  )
})
