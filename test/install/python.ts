import assert from 'node:assert/strict'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { command } from './command.js'
import { readmeBlock, readmeCommands } from './readme.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const LANGCHAIN = 'langchain-core==1.6.5'
/** Made by runs of Python in the sources. */
const MADE = /(^|\/)(__pycache__|build|[^/]*\.egg-info)(\/|$)/

export interface PythonOptions {
  readonly work: string
  readonly env: NodeJS.ProcessEnv
  readonly heddleUrl: string
}

/** Installs the client for Python as its README says, and runs the program of the README and the history for LangChain. */
export async function runPython({ work, env, heddleUrl }: PythonOptions) {
  const folder = join(work, 'python')
  await mkdir(folder)
  const sources = join(root, 'clients/python')
  await cp(sources, join(folder, 'clients/python'), {
    recursive: true,
    filter: (path) => !MADE.test(path.slice(sources.length)),
  })
  const run = async (...words: readonly string[]) =>
    (await command(words, { cwd: folder, env: { ...env, HEDDLE_URL: heddleUrl } })).stdout
  await run('python3', '-m', 'venv', 'own')
  const python = join(folder, 'own/bin/python')
  const pip = [python, '-m', 'pip', '--disable-pip-version-check', 'install', '--quiet']
  // Heddle is installed and runs already.
  const [, , install = ''] = await readmeCommands('clients/python')
  assert.equal(install, 'pip install ./clients/python')
  await run(...pip, './clients/python')
  await writeFile(join(folder, 'program.py'), await readmeBlock('clients/python', 'python'))
  const printed = await run(python, 'program.py')
  const [, recalled] = printed.trimEnd().split('\n')
  assert.equal(recalled, 'The tests listen on 5433.')
  return { readme: recalled, langchain: (await runHistory()) ? LANGCHAIN : 'skipped' }

  /** @returns whether LangChain could be fetched */
  async function runHistory(): Promise<boolean> {
    const fetched = await run(...pip, '--retries', '0', LANGCHAIN).catch(() => null)
    if (fetched === null) return false
    const history = await run(python, 'clients/python/examples/langchain_history.py')
    assert.equal(history.trimEnd().split('\n').at(-1), 'ai: They use 5433.')
    return true
  }
}

/** Whether this machine has a Python that the client supports, with what makes environments. */
export async function hasPython(env: NodeJS.ProcessEnv): Promise<boolean> {
  const check = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))'
  return await command(['python3', '-c', check], { cwd: root, env }).then(
    () => true,
    () => false,
  )
}
