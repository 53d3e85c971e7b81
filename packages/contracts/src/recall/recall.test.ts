import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { parseRecallCall, recallTool } from './recall.js'

const calls = [
  { ref: 'msg-1a2b3c4d' },
  { ref: '[recall:msg-1a2b3c4d]', lines: '10-50', search: 'timeout', maxTokens: 500 },
  { ref: 'nexora://_/current/msg-1a2b3c4d:L10-50', maxTokens: 1 },
]
const faults = [
  {},
  { ref: '' },
  { ref: 'msg-1', lines: '' },
  { ref: 'msg-1', search: '' },
  { ref: 'msg-1', maxTokens: 0 },
  { ref: 'msg-1', maxTokens: 1.5 },
  { ref: 'msg-1', max_tokens: 5 },
  { ref: 'msg-1', search: 'x'.repeat(1_001) },
]
const shapes = { anthropic: recallTool.anthropic.input_schema, openai: recallTool.openai.function.parameters }

describe.each(Object.entries(shapes))("the tool in %s's shape", (_, parameters) => {
  test('allows just the calls that the tool takes', () => {
    const schema = z.fromJSONSchema(JSON.parse(JSON.stringify(parameters)))
    for (const call of calls) {
      expect(schema.safeParse(call).success).toBe(true)
      expect(parseRecallCall(call)).toEqual(call)
    }
    for (const fault of faults) {
      expect(schema.safeParse(fault).success).toBe(false)
      expect(() => parseRecallCall(fault)).toThrow(expect.objectContaining({ field: expect.any(String) }))
    }
  })

  test('is what the provider accepts: an object with described parameters', () => {
    expect(parameters).toMatchObject({ type: 'object', required: ['ref'], additionalProperties: false })
    expect(Object.keys(parameters.properties ?? {})).toEqual(['ref', 'lines', 'search', 'maxTokens'])
    for (const field of Object.values(parameters.properties ?? {})) {
      expect(field).toMatchObject({
        type: expect.stringMatching(/^(string|integer)$/),
        description: expect.any(String),
      })
    }
  })
})

test('its name and its text are within what providers allow', () => {
  expect(recallTool.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  expect(recallTool.description.length).toBeLessThanOrEqual(1_024)
  expect(recallTool.openai).toMatchObject({ type: 'function', function: { name: 'recall' } })
})

test('its text says in which form a reference is shown, and that others reach other threads and projects', () => {
  expect(recallTool.description).toContain('[recall:msg-')
  expect(recallTool.description).toMatch(/other threads and projects[^.]*nexora:\/\//)
})

test('a call is read in the form in which providers deliver it', () => {
  expect(parseRecallCall('{"ref":"msg-1a2b3c4d","lines":null,"maxTokens":100}')).toEqual({
    ref: 'msg-1a2b3c4d',
    maxTokens: 100,
  })
  for (const broken of ['{"ref":', '"msg-1"', 'null', '[]', 7, null, undefined]) {
    expect(() => parseRecallCall(broken)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }))
  }
})
