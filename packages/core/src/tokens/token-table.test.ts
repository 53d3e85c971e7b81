import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { retainedBytes } from '../../../../test/support/src/retained-bytes.js'
import { NO_TOKEN, TokenTable } from './token-table.js'
import { countTokens, loadedTokens } from './tokens.js'

const find = (table: TokenTable, text: string) => table.find(new TextEncoder().encode(text), 0, Buffer.byteLength(text))

test('each token is found by its bytes, and nothing else is', () => {
  const tokens = Array.from({ length: 5_000 }, (_, rank) => `${rank.toString(36)}é`)
  const table = TokenTable.of([...tokens, [0xff, 0xfe], undefined, [0xff]])
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

test('another thread counts with the table that this one has loaded, without loading its own', async () => {
  countTokens('ready')
  const program = `
    import { parentPort, workerData } from 'node:worker_threads'
    const { countTokens, loadedTokens, useTokens } = await import(workerData.url)
    useTokens(workerData.tokens)
    const tokens = countTokens(workerData.text)
    const isShared = loadedTokens().slots.buffer instanceof SharedArrayBuffer
    parentPort.postMessage({ tokens, isShared })`
  const text = 'getUserById of 漢字 and src/module-12.ts '.repeat(20)
  const url = new URL('../../dist/tokens/tokens.js', import.meta.url).href
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
    workerData: { url, text, tokens: loadedTokens() },
    execArgv: [],
  })
  const [answer] = await once(worker, 'message')
  await worker.terminate()
  expect(answer).toEqual({ tokens: countTokens(text), isShared: true })
})
