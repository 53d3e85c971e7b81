import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const store = fileURLToPath(new URL('../../packages/store/src/', import.meta.url))

/** Queries of the table itself, and why they miss nothing of a fork: any other one reads through `forks/lineage.ts`. */
const OF_THE_TABLE: Readonly<Record<string, string>> = {
  'archive/archive-hits.ts': 'rows by the thread that they are stored in',
  'archive/archive-selection.ts': 'rows by the thread of an archive entry; shared entries come from thread_origins',
  'archive/texts-of-messages.ts': 'messages of the thread that archives them; the text of a shared one is copied',
  'calibration/calibrations.ts': 'replies of the contexts of an agent, by the thread that they are stored in',
  'contexts/request-contexts.ts': 'replies by the thread of their context',
  'erasure/erasure-messages.ts': 'removal of the rows of a thread',
  'erasure/messages/blank-messages.ts': 'removal of the rows of a thread',
  'facts/context-facts.ts': 'messages of one run that a fork shares',
  'forks/lineage.ts': 'the reading of forks itself',
  'iterations/iteration-reading.ts': 'threads with iterations are not forked',
  'messages/append-messages.ts': 'ids that an append repeats; shared ones are found by forks/shared-ids.ts',
  'messages/history.ts': 'histories of several threads, each message once',
  'messages/insert-messages.ts': 'rows of an insert',
  'messages/message-pages.ts': 'rows by the thread that they are stored in',
  'messages/places.ts': 'messages of an agent or a project, each once',
  'messages/references.ts': 'threads of a project that hold a code, each once',
  'messages/stored-message.ts': 'columns',
  'messages/token-counts.ts': 'columns',
  'search/memory-rows.ts': 'rows by the thread that they are stored in',
  'search/search-hits.ts': 'rows by the thread that they are stored in',
  'search/unindexed-messages.ts': 'own messages behind the cursor of the embed stage, which those of a fork are not',
  'threads/stages-behind.ts': 'the first own message behind a cursor, for the time at which it was stored',
  'transfer/thread-import-messages.ts': 'rows that an import adds',
  'vectors/remade-vectors.ts': 'rows by the thread that they are stored in',
}

test('messages of a thread are read through its lineage, but for the queries of the table that are named here', async () => {
  const files = (await readdir(store, { recursive: true })).filter((file) => /(?<!\.test)\.ts$/.test(file))
  const texts = await Promise.all(
    files.map(async (file) => ({ file, text: await readFile(`${store}${file}`, 'utf8') })),
  )
  const found = texts.filter(({ text }) => /\bheddle\.messages\b/.test(text)).map(({ file }) => file)
  expect(found.sort()).toEqual(Object.keys(OF_THE_TABLE).sort())
})
