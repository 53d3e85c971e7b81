import { expect, test } from 'vitest'
import { aiSdkPart, anthropicPart, openAiPart } from './part-blocks.js'

const data = 'aGVk'
const png = { type: 'image', mediaType: 'image/png', data }

test.each([
  ['base64', { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }, png],
  [
    'an address',
    { type: 'image', source: { type: 'url', url: 'https://a.org/b.png' } },
    { type: 'image', url: 'https://a.org/b.png' },
  ],
  [
    'a document with a title',
    { type: 'document', title: 'Report', source: { type: 'base64', media_type: 'application/pdf', data } },
    { type: 'document', mediaType: 'application/pdf', data, name: 'Report' },
  ],
  [
    'a file of the provider',
    { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    { type: 'document', fileId: 'file_1' },
  ],
  [
    'a document that is a text',
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
    null,
  ],
  ['a text', { type: 'text', text: 'x' }, null],
  ['an image without bytes', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }, null],
])("of Anthropic's blocks %s", (_name, block, part) => {
  expect(anthropicPart(block)).toEqual(part)
})

test.each([
  ['a data URL', { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }, png],
  [
    'a data URL with parameters',
    { type: 'image_url', image_url: { url: `data:image/png;name=a.png;base64,${data}` } },
    png,
  ],
  [
    'an image of the responses',
    { type: 'input_image', image_url: 'https://a.org/b.png', detail: 'high' },
    { type: 'image', url: 'https://a.org/b.png', detail: 'high' },
  ],
  [
    'a kept image',
    { type: 'input_image', file_id: 'file-1', detail: 'auto' },
    { type: 'image', fileId: 'file-1', detail: 'auto' },
  ],
  [
    'a file of the responses',
    { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` },
    { type: 'document', mediaType: 'application/pdf', data, name: 'a.pdf' },
  ],
  [
    'a file by its address',
    { type: 'input_file', file_url: 'https://a.org/b.pdf' },
    { type: 'document', url: 'https://a.org/b.pdf' },
  ],
  ['a kept file', { type: 'file', file: { file_id: 'file-1' } }, { type: 'document', fileId: 'file-1' }],
  [
    'a sound',
    { type: 'input_audio', input_audio: { data, format: 'wav' } },
    { type: 'audio', mediaType: 'audio/wav', data },
  ],
  ['a text', { type: 'input_text', text: 'x' }, null],
])("of OpenAI's parts %s", (_name, block, part) => {
  expect(openAiPart(block)).toEqual(part)
})

test.each([
  ['an image', { type: 'image', image: data, mediaType: 'image/png' }, png],
  ['an address', { type: 'image', image: 'https://a.org/b.png' }, { type: 'image', url: 'https://a.org/b.png' }],
  [
    'a file',
    { type: 'file', data, mediaType: 'application/pdf', filename: 'a.pdf' },
    { type: 'document', mediaType: 'application/pdf', data, name: 'a.pdf' },
  ],
  ['what a tool gave', { type: 'media', data, mediaType: 'image/png' }, png],
  ['a sound', { type: 'file', data, mediaType: 'audio/wav' }, { type: 'audio', mediaType: 'audio/wav', data }],
  ['a text', { type: 'text', text: 'x' }, null],
])("of the AI SDK's parts %s", (_name, block, part) => {
  expect(aiSdkPart(block)).toEqual(part)
})
