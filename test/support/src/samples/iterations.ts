import type { Iteration } from '@heddle/core'

/** An iteration with defaults for all fields that a test does not set. */
export function sampleIteration(fields: Partial<Iteration> = {}): Iteration {
  return {
    id: `00000000-0000-4000-8000-${String(fields.number ?? 1).padStart(12, '0')}`,
    number: 1,
    code: null,
    happenedAtMs: Date.UTC(2026, 1, 12, 14, 30),
    cliUsed: null,
    modelUsed: null,
    prompt: 'go on',
    output: 'done',
    progressScore: null,
    progressMarkers: [],
    fileChanges: [],
    fileEvents: [],
    durationSeconds: null,
    ...fields,
  }
}
