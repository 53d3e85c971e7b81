import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { everything, render } from './rendered.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string }[]
}

async function containers(): Promise<ReadonlyMap<string, Container>> {
  const objects = await render(everything)
  const running = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
  return new Map(
    running.map(({ metadata, spec }) => {
      const [container] = (spec as { template: { spec: { containers: Container[] } } }).template.spec.containers
      if (container === undefined) throw new Error(`${metadata.name} has no container`)
      return [metadata.name.replace('heddle-', ''), container]
    }),
  )
}

test('the processes are those of docker-compose.yml, by the same commands', async () => {
  const { services } = parse(await readFile(`${root}docker-compose.yml`, 'utf8'), { merge: true }) as {
    services: Record<string, { command: string[]; environment: Record<string, string> }>
  }
  const charted = await containers()
  for (const [name, { command }] of Object.entries(services).filter(
    ([each]) => each !== 'postgres' && each !== 'redis',
  )) {
    const args = charted
      .get(name)
      ?.args.filter((_, at, all) => all[at] !== '--concurrency' && all[at - 1] !== '--concurrency')
    expect(args, name).toEqual(command)
  }
})

test('each command exists, with its options', async () => {
  for (const [name, { args }] of await containers()) {
    const command = args[0] ?? ''
    const { stdout } = await run(process.execPath, [`${root}packages/cli/bin/heddle.js`, command, '--help'])
    for (const option of args.filter((each) => each.startsWith('--'))) expect(stdout, name).toContain(option)
  }
}, 60_000)

test('each variable of Heddle is one that its configuration reads', async () => {
  const page = await readFile(`${root}docs/configuration.md`, 'utf8')
  const names = [...(await containers()).values()].flatMap(({ env }) => env.map(({ name }) => name))
  for (const name of new Set(names.filter((each) => each !== 'NODE_OPTIONS'))) expect(page).toContain(`\`${name}\``)
})
