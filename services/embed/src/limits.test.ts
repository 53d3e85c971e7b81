import { CHUNK_CHARACTERS_MAX, MESSAGE_CHUNKS_MAX } from '@heddle/core'
import { embedderLimits } from '@heddle/models'
import { expect, test } from 'vitest'
import { MESSAGES_PER_BATCH_MAX } from './limits.js'

test('a batch of the longest messages is one call to the embedder', () => {
  expect(MESSAGES_PER_BATCH_MAX * MESSAGE_CHUNKS_MAX).toBeLessThanOrEqual(embedderLimits.textsMax)
  expect(CHUNK_CHARACTERS_MAX).toBeLessThanOrEqual(embedderLimits.textCharactersMax)
})
