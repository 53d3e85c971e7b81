import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readLocomo } from '../eval/src/search/locomo.js'

/** Sessions that become threads of one agent. */
export interface Sessions {
  readonly agent: string
  readonly format: string
  readonly files: readonly string[]
  /** Budget of a context in tokens: small enough that long sessions are compacted. */
  readonly budget: number
}

export interface Corpus {
  readonly sessions: readonly Sessions[]
  /** The search queries. */
  readonly queries: readonly string[]
}

const QUERIES_PER_FILE = 8

/** All recorded sessions of the folder, in formats that every version can import; converted files go to `workDir`. */
export async function prepareCorpus(dataDir: string, workDir: string): Promise<Corpus> {
  const locomo = readLocomo(dataDir)
  const beam = await filesOf(dataDir, 'beam', /^chat-.*\.json$/)
  const files = {
    coder: await filesOf(dataDir, 'claude-code', /\.jsonl$/),
    fixer: await filesOf(dataDir, 'swe-agent', /\.traj$/),
    airline: await filesOf(dataDir, 'tau-bench', /\.json$/),
    friends: await Promise.all(
      locomo
        .flatMap(({ threads }) => threads)
        .map(({ thread, messages }) =>
          writeLines(
            join(workDir, `${thread.replaceAll(/\W+/g, '-')}.jsonl`),
            messages.map(({ id: _, ...message }) => message),
          ),
        ),
    ),
    assistant: await Promise.all(
      beam.map(async (file) => writeLines(join(workDir, `beam-${basename(file)}l`), await beamMessages(file))),
    ),
  }
  return {
    sessions: [
      { agent: 'coder', format: 'claude-code', files: files.coder, budget: 32_000 },
      { agent: 'fixer', format: 'swe-agent', files: files.fixer, budget: 8_000 },
      { agent: 'airline', format: 'openai', files: files.airline, budget: 6_000 },
      { agent: 'friends', format: 'heddle', files: files.friends, budget: 6_000 },
      { agent: 'assistant', format: 'heddle', files: files.assistant, budget: 24_000 },
    ],
    queries: [
      ...locomo.flatMap(({ questions }) => questions.slice(0, QUERIES_PER_FILE).map(({ text }) => text)),
      ...(await beamQuestions(dataDir)),
      'error',
      'function that parses the configuration',
    ],
  }
}

async function filesOf(dataDir: string, folder: string, name: RegExp): Promise<string[]> {
  const names = (await readdir(join(dataDir, folder))).filter((each) => name.test(each)).sort()
  return names.map((each) => join(dataDir, folder, each))
}

async function writeLines(file: string, messages: readonly object[]): Promise<string> {
  await writeFile(file, messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  return file
}

interface BeamTurn {
  readonly role: 'user' | 'assistant'
  readonly id: number
  readonly content: string
}

async function beamMessages(file: string): Promise<object[]> {
  const batches = JSON.parse(await readFile(file, 'utf8')) as { turns: BeamTurn[][] }[]
  return batches
    .flatMap(({ turns }) => turns.flat())
    .map(({ role, id, content }) => ({ sourceId: String(id), role, content: content.replace(/ ->-> [\d,]+$/, '') }))
}

async function beamQuestions(dataDir: string): Promise<string[]> {
  const files = await filesOf(dataDir, 'beam', /^questions-.*\.json$/)
  const read = files.map(async (file) => {
    const found: string[] = []
    JSON.parse(await readFile(file, 'utf8'), (key, value) => {
      if (key === 'question' && typeof value === 'string') found.push(value)
      return value
    })
    return found.slice(0, QUERIES_PER_FILE)
  })
  return (await Promise.all(read)).flat()
}
