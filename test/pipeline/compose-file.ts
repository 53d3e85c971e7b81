import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'

/** One service of docker-compose.yml, with the settings that a process started by hand can have. */
export interface ComposeService {
  readonly image?: string
  readonly command: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The services of docker-compose.yml with the given variables in their places, as `docker-compose config` shows them. */
export async function readComposeServices(
  variables: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, ComposeService>>> {
  const text = await readFile(`${ROOT}docker-compose.yml`, 'utf8')
  const inPlace = (_: unknown, value: unknown) => (typeof value === 'string' ? interpolate(value, variables) : value)
  return (parse(text, inPlace, { merge: true }) as { services: Record<string, ComposeService> }).services
}

/** Its output of `docker-compose config`; null if that is not installed. */
export async function composeConfig(
  variables: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, ComposeService>> | null> {
  try {
    const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...variables }
    const { stdout } = await promisify(execFile)('docker-compose', ['config'], { cwd: ROOT, env: environment })
    return (parse(stdout) as { services: Record<string, ComposeService> }).services
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The statements of the script that Postgres's image runs once, with the password inserted. */
export async function createRoleStatements(password: string): Promise<string> {
  const script = await readFile(`${ROOT}infra/postgres/create-app-role.sh`, 'utf8')
  const statements = /<<'SQL'\n(.*?)\nSQL$/ms.exec(script)?.[1]
  if (statements === undefined) throw new Error('create-app-role.sh has no statements')
  return statements.replaceAll(":'password'", `'${password}'`)
}

/** `${NAME:-default}` and `${NAME:?what to do}`. */
function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    const value = variables[name]
    if (value !== undefined && value !== '') return value
    if (kind === '?') throw new Error(`${name}: ${rest}`)
    return rest
  })
}
