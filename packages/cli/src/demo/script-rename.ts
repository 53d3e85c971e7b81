import type { DemoSession } from './session.js'

const FILES_MAX = 6

/** The agent renames the constant that most files use, file by file, and looks whether one was forgotten. */
export async function renameConstant(session: DemoSession, sources: readonly string[]): Promise<void> {
  session.ask('Find the constant in capitals that most files use and rename it so that its name says it is a setting.')
  const [found] = await session.use(
    'All constants in capitals that are declared somewhere.',
    session.grep('const [A-Z][A-Z0-9]+_[A-Z0-9_]+ =', 'content'),
  )
  const candidates = new Map<string, Set<string>>()
  for (const line of (found?.content ?? '').split('\n')) {
    const name = /const ([A-Z][A-Z0-9]+_[A-Z0-9_]+) =/.exec(line)?.[1]
    const path = line.slice(0, line.indexOf(':'))
    if (name === undefined || !sources.includes(path)) continue
    candidates.set(name, (candidates.get(name) ?? new Set()).add(path))
  }
  const [chosen] = [...candidates].sort((left, right) => right[1].size - left[1].size || (left[0] < right[0] ? -1 : 1))
  if (chosen === undefined) {
    session.say('There is no constant in capitals in these files, so there is nothing to rename.')
    return
  }
  const [name, paths] = chosen
  const renamed = `SETTING_${name}`
  await session.use(`${name} it is. Who uses it?`, session.grep(`\\b${name}\\b`, 'content'))
  for (const path of [...paths].sort().slice(0, FILES_MAX)) {
    await session.use(`Renaming it in ${path}.`, session.read(path))
    await session.use(null, session.edit(path, name, renamed, true))
    await session.use(null, session.edit(path, `const ${name} =`, `const ${renamed} =`))
  }
  await session.use(
    'Is one left?',
    session.grep(`\\b${name}\\b`, 'content'),
    session.grep(`\\b${renamed}\\b`, 'content'),
  )
  session.say(
    `${name} is ${renamed} now, in ${Math.min(paths.size, FILES_MAX)} files. The two searches above show what is left of the old name.`,
  )
}
