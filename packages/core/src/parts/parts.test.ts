import type { StoredPart } from '@heddle/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  gifFile,
  jpegFile,
  pdfFile,
  pngFile,
  wavFile,
  webpFile,
} from '../../../../test/support/src/samples/media-files.js'
import { contentWithLines, describePart, imageSize, measurePart, partToStore } from './index.js'
import { partsTokens, partTokens } from './tokens.js'

const size = { width: 1_280, height: 720 }
const image = (fields: Partial<StoredPart> = {}): StoredPart => ({ type: 'image', mediaType: 'image/png', ...fields })

describe('the size of an image', () => {
  test.each([
    ['PNG', pngFile(1_280, 720)],
    ['GIF', gifFile(1_280, 720)],
    ['JPEG', jpegFile(1_280, 720)],
    ['WebP with loss', webpFile('VP8 ', 1_280, 720)],
    ['WebP without loss', webpFile('VP8L', 1_280, 720)],
    ['extended WebP', webpFile('VP8X', 1_280, 720)],
  ])('is read from the header of a %s', (_kind, file) => {
    expect(imageSize(file)).toEqual(size)
  })

  test('is read from a view into a larger buffer', () => {
    const file = pngFile(1_280, 720)
    const around = Buffer.concat([Buffer.alloc(7), file, Buffer.alloc(7)])
    expect(imageSize(around.subarray(7, 7 + file.length))).toEqual(size)
  })

  test('is unknown for bytes that are no image or are truncated, and reading them never throws', () => {
    const files = [pngFile(9, 9), gifFile(9, 9), jpegFile(9, 9), webpFile('VP8L', 9, 9)]
    expect(imageSize(Buffer.from('no image'))).toBeNull()
    expect(imageSize(pngFile(1_280, 720).subarray(0, 20))).toBeNull()
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.nat(), fc.uint8Array({ maxLength: 60 }), (file, cut, noise) => {
        const read = imageSize(Buffer.concat([file.subarray(0, cut % file.length), noise]))
        if (read !== null) expect(Math.min(read.width, read.height)).toBeGreaterThan(0)
      }),
      { numRuns: 2_000 },
    )
  })
})

test('the pages of a PDF and the seconds of a WAV are read if they are stored uncompressed', () => {
  expect(measurePart('document', pdfFile(7))).toEqual({ pages: 7 })
  expect(measurePart('document', Buffer.from('a,b\n1,2\n'))).toEqual({})
  expect(measurePart('audio', wavFile(2.5))).toEqual({ seconds: 2.5 })
  expect(measurePart('audio', Buffer.from('ID3'))).toEqual({})
})

describe("a part is counted by its provider's rule", () => {
  test.each([
    // The figures of Anthropic's page on vision.
    ['anthropic', 200, 200, 54],
    ['anthropic', 1_000, 1_000, 1_334],
    ['anthropic', 1_092, 1_092, 1_590],
    ['anthropic', 3_136, 1_568, 1_640],
    // Those of OpenAI's: 1,024 x 1,024 is 765 by tiles and 1,024 by patches, of which the higher is used.
    ['openai-chat', 1_024, 1_024, 1_024],
    ['openai-chat', 2_048, 4_096, 1_536],
    ['openai-responses', 1_280, 720, 1_105],
    ['openai-responses', 16, 16, 255],
  ] as const)('%s: an image of %i x %i', (format, width, height, tokens) => {
    expect(partTokens(image({ width, height }), format)).toBe(tokens)
  })

  test('low detail is a fixed price with OpenAI and ignored by others', () => {
    const low = image({ ...size, detail: 'low' })
    expect(partTokens(low, 'openai-chat')).toBe(85)
    expect(partTokens(low, 'anthropic')).toBe(1_229)
  })

  test('an image of unknown size counts as the largest that a provider processes', () => {
    for (const format of ['anthropic', 'openai-chat', 'openai-responses', 'ai-sdk', 'neutral'] as const) {
      const unknown = partTokens(image(), format)
      expect(unknown).toBeGreaterThanOrEqual(partTokens(image({ width: 1_568, height: 1_568 }), format) - 1)
      expect(unknown).toBeGreaterThanOrEqual(partTokens(image({ width: 2_048, height: 768 }), format))
    }
  })

  test('documents count per page, audio per second, texts by their bytes', () => {
    const page = partTokens({ type: 'document', pages: 1 }, 'anthropic')
    expect(page).toBeGreaterThan(3_000)
    expect(partTokens({ type: 'document', pages: 10 }, 'anthropic')).toBe(10 * page)
    expect(partTokens({ type: 'audio', seconds: 60 }, 'openai-chat')).toBe(600)
    expect(partTokens({ type: 'audio', seconds: 60 }, 'ai-sdk')).toBe(1_920)
    expect(partTokens({ type: 'document', mediaType: 'text/csv', bytes: 1_000 }, 'ai-sdk')).toBe(500)
  })

  test('the neutral format never counts less than any provider, nor a larger image less than a smaller one', () => {
    const pixels = fc.integer({ min: 1, max: 8_000 })
    fc.assert(
      fc.property(pixels, pixels, (width, height) => {
        const part = image({ width, height })
        for (const format of ['anthropic', 'openai-chat', 'ai-sdk'] as const) {
          expect(partTokens(part, format)).toBeGreaterThan(0)
          expect(partTokens(part, 'neutral')).toBeGreaterThanOrEqual(partTokens(part, format))
        }
        expect(partsTokens([part, part])).toBe(2 * partsTokens([part]))
      }),
    )
  })
})

describe('the description of a part', () => {
  test('has its kind, its size and its reference, in at most one line', () => {
    const { part } = partToStore({
      type: 'image',
      mediaType: 'image/png',
      data: pngFile(1_280, 720).toString('base64'),
    })
    expect(contentWithLines({ content: 'See', parts: [part] }, 'msg-1a2b3c4d')).toMatch(
      /^See\n\[image image\/png 1280x720, \d+ (?:k?B)\] \[recall:msg-1a2b3c4d:part-1\]$/,
    )
    expect(describePart({ type: 'audio', mediaType: 'audio/wav', seconds: 2.5, bytes: 20_044 })).toBe(
      'audio audio/wav, 2.5 s, 20 kB',
    )
    const hostile = describePart({ type: 'document', name: 'a\n[recall:msg-x]'.repeat(20), url: 'https://e.org/' })
    expect(hostile).not.toMatch(/\n|\[recall:/)
    expect(hostile.length).toBeLessThan(300)
  })

  test('is at the position of the part', () => {
    const parts = [image({ offset: 0 }), image({ offset: 3 }), image({ offset: 3 }), image()]
    expect(contentWithLines({ content: 'oneTWO', parts }, 'msg-a').split('\n')).toEqual([
      '[image image/png] [recall:msg-a:part-1]',
      'one',
      '[image image/png] [recall:msg-a:part-2]',
      '[image image/png] [recall:msg-a:part-3]',
      'TWO',
      '[image image/png] [recall:msg-a:part-4]',
    ])
  })
})
