import type { Json } from '@heddle/client/forms'
import { flattenContent } from '@heddle/client/forms'
import { expect, test } from 'vitest'

const text = (words: string) => ({ type: 'text', text: words })

test('a text document becomes text under its title', () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'Weave twill.' }
  const { text: told, blocks } = flattenContent('messages[0]', [
    { type: 'document', title: 'The plan', context: 'of Monday', source, citations: { enabled: true } },
    text('What does it say?'),
  ])
  expect(told).toBe('[document: The plan: of Monday]\nWeave twill.\n\nWhat does it say?')
  expect(blocks).toEqual([])
})

test('a document of text blocks becomes text, and one with an image is kept whole', () => {
  const document = (content: Json[]) => ({ type: 'document', source: { type: 'content', content } })
  const image = { type: 'image', source: { type: 'url', url: 'https://a.org/b.png' } }
  const { text: told, blocks } = flattenContent('messages[0]', [
    document([text('one'), text('two')]),
    document([text('three'), image]),
  ])
  expect(told).toBe('[document]\none\n\ntwo\n\n[document]')
  expect(blocks).toEqual([document([text('three'), image])])
})

test('a search result becomes text with its title and its source', () => {
  const result = { type: 'search_result', title: 'Looms', source: 'https://a.org/looms', content: [text('wide')] }
  expect(flattenContent('messages[0]', [result])).toEqual({
    text: '[search_result: Looms: https://a.org/looms]\nwide',
    parts: [],
    blocks: [],
  })
})
