import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The suites of journeys, with their text. */
async function suites(): Promise<{ path: string; text: string }[]> {
  const files = await readdir(`${root}test/pipeline`, { recursive: true })
  return await Promise.all(
    files
      .filter((file) => file.endsWith('.test.ts'))
      .map(async (file) => ({
        path: `test/pipeline/${file}`,
        text: await readFile(`${root}test/pipeline/${file}`, 'utf8'),
      })),
  )
}

test('a suite of journeys that opens queues on one server alone says why', async () => {
  const named = (await suites()).filter(({ text }) => /\b(openPipeline|pipelineOfTests)\('\w+'/.test(text))
  const silent = named.filter(({ text }) => !/\/\/ One server of queues: /.test(text))
  expect(silent.map(({ path }) => path)).toEqual([])
})
