import { OpenCodeSession } from '@heddle/test-support/opencode/session'
import { expect, test } from 'vitest'
import { Heddle } from '../../../plugins/opencode/heddle.js'
import { type Served, servePipeline } from '../doors/http-support.js'
import type { Pipeline } from '../support.js'

let pipeline: Pipeline
let http: Served
servePipeline((opened) => {
  ;({ pipeline, http } = opened)
})

const log = (lines: number, of: string) => Array.from({ length: lines }, (_, at) => `ok ${at} - ${of}`).join('\n')

test('of 200 calls of a session all originals are recalled byte for byte', async () => {
  const session = await OpenCodeSession.start(Heddle, 'long', { url: http.url, answerMs: 30_000 })
  const originals = new Map<string, string>()
  for (let turn = 0; turn < 200; turn++) {
    if (turn % 20 === 0) await session.prompt(`Part ${turn}`)
    const original = log(20 + ((turn * 37) % 500), `part ${turn} ü€😀`)
    const { metadata, output } = await session.call('bash', { command: `npm test -- ${turn}` }, original)
    const { reference } = metadata['heddle'] as { reference: string }
    originals.set(reference, original)
    expect(output === original || output.includes(`[recall:${reference}]`)).toBe(true)
  }
  expect(originals.size).toBe(200)
  for (const [ref, original] of originals) {
    const { content } = await pipeline.client.recall({ ref, thread: 'long', offset: 0, limit: 1_000_000 })
    expect(content).toBe(original)
  }
})
