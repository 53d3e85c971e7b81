import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assertStorable, decodeText, encodeText, toStorable } from './text.js'

describe('texts that Postgres cannot hold', () => {
  it('are refused by the name of their field, without being shown', () => {
    expect(() => assertStorable('toolName', 'a\0secret')).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'toolName', received: 'a text of 8 characters' }),
    )
    expect(() => assertStorable('toolName', 'fine 😀')).not.toThrow()
  })

  it('lose only the characters that cannot be kept where Heddle wrote them itself', () => {
    expect(toStorable('a\0b\ud800c😀')).toBe('a\ufffdb\ufffdc😀')
  })

  it('come back from bytes as they were, lone surrogates and all', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), (units) => {
        const text = String.fromCharCode(...units)
        expect(decodeText(encodeText(text))).toBe(text)
      }),
    )
    const surrogates = fc.array(
      fc.oneof(fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.integer({ min: 0x40, max: 0x60 })),
    )
    fc.assert(
      fc.property(surrogates, (units) => {
        const text = String.fromCharCode(...units)
        expect(decodeText(encodeText(text))).toBe(text)
      }),
    )
  })

  it('are UTF-8 as bytes wherever that can say them', () => {
    expect(encodeText('Grüße 😀\0').equals(Buffer.from('Grüße 😀\0', 'utf8'))).toBe(true)
  })
})
