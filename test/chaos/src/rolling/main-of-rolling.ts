import { isWanted } from '@heddle/test-support/figure'
import type { Arguments } from '../arguments.js'
import { isInstalled } from '../cluster/requirements.js'
import { PrintedFigures } from '../printed-figures.js'
import { backendNames } from '../servers.js'
import { nameOfRolling, rollingFigureNames } from './rolling-figures.js'
import { runRolling } from './run-rolling.js'
import { buildVersion, type Version } from './versions.js'

const programs = { haproxy: 'haproxy', setpriv: 'util-linux', git: 'git', tar: 'tar' } as const

/** `--rolling`: prints the figures of an upgrade on each selected backend. @returns the exit code */
export async function mainOfRolling(
  { list, only, seed, size, rolling }: Arguments & { readonly rolling: NonNullable<Arguments['rolling']> },
  say: (line: string) => void,
): Promise<number> {
  const wanted = backendNames
    .map((backend) => {
      const names = rollingFigureNames.map((name) => nameOfRolling(name, backend))
      return { backend, names: names.filter((name) => isWanted(name, only)) }
    })
    .filter(({ names }) => names.length > 0)
  if (list) {
    for (const name of wanted.flatMap(({ names }) => names)) process.stdout.write(`${name}\n`)
    return 0
  }
  if (wanted.length === 0) {
    say('no figure has such a name; --rolling --list shows them')
    return 2
  }
  for (const [program, debianPackage] of Object.entries(programs)) {
    if (await isInstalled(program)) continue
    say(`${program} is missing: apt-get install --no-install-recommends ${debianPackage}`)
    return 2
  }
  let from: Version
  try {
    from = await buildVersion(rolling.from, say)
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    return 2
  }
  say(`--seed ${seed} brings the same messages again`)
  const figures = new PrintedFigures(say)
  for (const { backend, names } of wanted) {
    await figures.ofRun(`the upgrade on ${backend}`, names, async (print) =>
      (await runRolling({ ...rolling, backend, from, size, seed, say })).forEach(print),
    )
  }
  return figures.exitCode
}
