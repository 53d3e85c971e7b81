import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assertStorable, decodeText, encodeText, toStorable } from './text.js'

describe('texts that Postgres cannot hold', () => {
  it('are refused with the name of their field; the error does not show them', () => {
    expect(() => assertStorable('toolName', 'a\0secret')).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', field: 'toolName', received: 'a text of 8 characters' }),
    )
    expect(() => assertStorable('toolName', 'fine 😀')).not.toThrow()
  })

  it('lose only the characters that cannot be stored if Heddle wrote them itself', () => {
    expect(toStorable('a\0b\ud800c😀')).toBe('a\ufffdb\ufffdc😀')
  })

  it('are decoded from bytes exactly, including lone surrogates', () => {
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

  it('are encoded as UTF-8 if it can represent them', () => {
    expect(encodeText('Grüße 😀\0').equals(Buffer.from('Grüße 😀\0', 'utf8'))).toBe(true)
  })
})
