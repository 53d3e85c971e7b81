import { expect, test } from 'vitest'
import { retainedBytes } from '../../../../test/support/src/retained-bytes.js'
import { NO_TOKEN, TokenTable } from './token-table.js'
import { countTokens } from './tokens.js'

const find = (table: TokenTable, text: string) => table.find(new TextEncoder().encode(text), 0, Buffer.byteLength(text))

test('each token is found by its bytes, and nothing else is', () => {
  const tokens = Array.from({ length: 5_000 }, (_, rank) => `${rank.toString(36)}é`)
  const table = new TokenTable([...tokens, [0xff, 0xfe], undefined, [0xff]])
  for (const [rank, token] of tokens.entries()) expect(find(table, token)).toBe(rank)
  expect(table.find(Uint8Array.of(1, 0xff, 0xfe, 2), 1, 3)).toBe(5_000)
  expect(table.find(Uint8Array.of(0xff), 0, 1)).toBe(5_002)
  for (const other of ['', 'é', 'zzzzé', '0', 'é0']) expect(find(table, other)).toBe(NO_TOKEN)
})

test('the tokenizer keeps its table, and not the strings of the library', async () => {
  const retained = await retainedBytes(() => void countTokens('ready and set'))
  // 200,000 strings with their array take seven megabytes, a map of them another nine.
  expect(retained).toBeLessThan(2_000_000)
})
