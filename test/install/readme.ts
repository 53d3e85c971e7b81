import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileAndRun, programPath } from './journeys.js'
import type { Installed, Project } from './project.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The first block of a language in the README of a folder. */
export async function readmeBlock(folder: string, language: string): Promise<string> {
  const readme = await readFile(join(root, folder, 'README.md'), 'utf8')
  const [, block] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme) ?? []
  assert.ok(block !== undefined, `the README of ${folder} has no block of ${language}`)
  return block
}

/** The commands of a README, without their comments; two on one line are two. */
export async function readmeCommands(folder: string): Promise<string[]> {
  const lines = (await readmeBlock(folder, 'sh')).split('\n').flatMap((line) => line.split(' #')[0]?.split('&&') ?? [])
  return lines.map((line) => line.trim()).filter((line) => line !== '')
}

/**
 * Installs an adapter by the command of its README.
 *
 * @param tested the version of each package of others, in place of the newest one
 */
export async function installByReadme(
  project: Project,
  adapter: string,
  tested: Readonly<Record<string, string>>,
): Promise<Installed> {
  const [line = '', ...others] = await readmeCommands(`packages/${adapter}`)
  const [npm, install, ...names] = line.split(' ')
  assert.deepEqual([npm, install, others], ['npm', 'install', []])
  const foreign = names.filter((name) => !name.startsWith('@heddle/'))
  assert.deepEqual(foreign.toSorted(), Object.keys(tested).toSorted())
  return await project.install(...names.map((name) => (name in tested ? `${name}@${tested[name]}` : name)))
}

/** Runs the program in the README of an adapter. @param folder of the file with the same program */
export async function runByReadme(
  project: Project,
  adapter: string,
  { env, folder = '' }: { readonly env: NodeJS.ProcessEnv; readonly folder?: string },
): Promise<Readonly<Record<string, unknown>>> {
  const program = await readFile(programPath(join(folder, adapter)), 'utf8')
  assert.equal(await readmeBlock(`packages/${adapter}`, 'ts'), program)
  return await compileAndRun(project, adapter, { env, folder, checksDeclarations: false })
}
