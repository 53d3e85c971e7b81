import { assembleJobSchema } from '@heddle/contracts'
import { describe, expect, it } from 'vitest'
import { keyWithBase, readRequestKey, requestKey } from './prepared.js'

const projectId = '018f0000-0000-7000-8000-000000000001'
const baseId = '018f0000-0000-7000-8000-000000000002'

describe('the key of a request in its job', () => {
  const key = requestKey(projectId, { thread: 'cloth', budget: 4_000 })

  it('names the context that its sender has, in a job that workers of all versions accept', () => {
    const named = keyWithBase(key, baseId)
    expect(readRequestKey(named)).toEqual({ key, baseId })
    const job = { projectId, contextId: baseId, requestKey: named }
    expect(assembleJobSchema.parse(job)).toEqual(job)
  })

  it('is the same without such a context, as in jobs of earlier versions', () => {
    expect(keyWithBase(key, undefined)).toBe(key)
    expect(readRequestKey(key)).toEqual({ key })
    expect(readRequestKey(undefined)).toEqual({})
  })

  it('is another one for each project, so that its contexts are remembered apart', () => {
    expect(requestKey(baseId, { thread: 'cloth', budget: 4_000 })).not.toBe(key)
  })
})
