import { describe, expect, test } from 'vitest'
import { dataIn, ServerEventReader } from './server-events.js'

const bytes = (text: string) => Buffer.from(text)

describe('a stream of events', () => {
  test.each(['\n', '\r\n', '\r'])('is the same however its bytes are cut, with lines that end with %j', (end) => {
    const stream = ['event: a', 'data: 1ü', '', ': a comment', '', 'data:2', 'data: 3', '', ''].join(end)
    for (let size = 1; size < 12; size++) {
      const reader = new ServerEventReader()
      const events = []
      for (let from = 0; from < bytes(stream).length; from += size) {
        events.push(...reader.push(bytes(stream).subarray(from, from + size)))
      }
      expect(events.map(({ data }) => data)).toEqual(['1ü', '', '2\n3'])
      expect(events.map(({ raw }) => raw).join('') + reader.rest).toBe(stream)
    }
  })

  test('may lack the empty line at its end', () => {
    expect(dataIn(bytes('data: 1\n\ndata: 2'))).toEqual(['1', '2'])
  })

  test('with one event of many chunks is searched once', () => {
    const reader = new ServerEventReader()
    const chunk = bytes('x'.repeat(1_024))
    const time = (chunks: number) => {
      const started = performance.now()
      for (let count = 0; count < chunks; count++) reader.push(chunk)
      return performance.now() - started
    }
    time(2_000)
    const [first, later] = [time(4_000), time(4_000)]
    expect(later).toBeLessThan(first * 5 + 20)
  })
})
