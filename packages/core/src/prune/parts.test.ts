import { expect, test } from 'vitest'
import { conversation, decide } from '../../../../test/support/src/samples/pruned-conversation.js'

const image = {
  type: 'image' as const,
  mediaType: 'image/png',
  sha256: 'a'.repeat(64),
  bytes: 184_320,
  width: 1_280,
  height: 720,
}

test("an old image of a user is replaced by a line, and the user's text stays", () => {
  const { messages, add, filler } = conversation()
  add({ role: 'user', content: 'Before and after.', parts: [{ ...image, offset: 6 }, image] })
  filler(10)
  expect(decide(messages)).toMatchObject([
    {
      action: 'condense',
      reason: 'old image, document or sound',
      text: [
        'Before',
        '[image image/png 1280x720, 184 kB] [recall:msg-code0001:part-1]',
        ' and after.',
        '[image image/png 1280x720, 184 kB] [recall:msg-code0001:part-2]',
      ].join('\n'),
      archive: { content: 'Before and after.' },
    },
  ])
})

test('an image of a user that is not old, or is pinned, stays', () => {
  const { messages, add, filler } = conversation()
  add({ role: 'user', content: 'Pinned.', parts: [image], pinned: true })
  filler(2)
  add({ role: 'user', content: 'Young.', parts: [image] })
  filler(9)
  expect(decide(messages)).toEqual([])
})

test('an old result that is an image is condensed to its description', () => {
  const { messages, tool, filler } = conversation()
  tool('screenshot', { url: 'https://example.com' }, '', { result: { parts: [image], tokens: 1_300 } })
  filler(10)
  const [decision] = decide(messages)
  expect(decision).toMatchObject({ action: 'condense', archive: { content: '' } })
  expect(decision?.text).toMatch(
    /^📝 image image\/png 1280x720, 184 kB \[recall:(msg-\w+)\] \[image .*\] \[recall:\1:part-1\]$/,
  )
})

test('two pictures from the same call are the same answer only if their bytes are equal', () => {
  const taken = (...hashes: string[]) => {
    const { messages, tool, filler } = conversation()
    for (const sha256 of hashes)
      tool('screenshot', {}, '', { result: { parts: [{ ...image, sha256 }], tokens: 1_300 } })
    filler(10)
    return decide(messages).map(({ action, reason }) => `${action}: ${reason}`)
  }
  const condensed = 'condense: old tool result'
  expect(taken('a'.repeat(64), 'b'.repeat(64))).toEqual([condensed, condensed])
  const removed = 'remove: superseded by a later identical call'
  expect(taken('a'.repeat(64), 'a'.repeat(64))).toEqual([removed, removed, condensed])
})
