import type { ConnectionFigures, ServerHealth } from '@heddle/store'
import { type Check, failed, passed, warned } from './check.js'

const OLDEST_MAJOR = 15
const NEWEST_MAJOR = 18

/** Checks of the version, the migrations and the role of the server. */
export function checksOfServer(server: ServerHealth): Check[] {
  return [versionCheck(server), migrationCheck(server), roleCheck(server)]
}

function versionCheck({ version, versionNumber }: ServerHealth): Check {
  const major = Math.floor(versionNumber / 10_000)
  const name = 'database version'
  if (major < OLDEST_MAJOR) {
    return failed(
      name,
      `Postgres ${version}`,
      `Heddle needs Postgres ${OLDEST_MAJOR} to ${NEWEST_MAJOR}: upgrade the server.`,
    )
  }
  if (major > NEWEST_MAJOR) {
    return warned(name, `Postgres ${version}`, `Heddle is tested with Postgres ${OLDEST_MAJOR} to ${NEWEST_MAJOR}.`)
  }
  return passed(name, `Postgres ${version}`)
}

function migrationCheck({ migrationsApplied, migrationsPending }: ServerHealth): Check {
  const name = 'migrations'
  if (migrationsPending.length === 0) return passed(name, `${migrationsApplied.length} applied, none missing`)
  return failed(name, `missing: ${migrationsPending.join(', ')}`, 'Run "heddle migrate" against this database.')
}

function roleCheck({ login, isSuperuser, roleExists, mayTakeRole }: ServerHealth): Check {
  const name = 'role'
  if (!roleExists) {
    return failed(
      name,
      'the role heddle_app does not exist',
      'Run "heddle migrate" as a user with the privilege to create roles.',
    )
  }
  if (!mayTakeRole) {
    return failed(
      name,
      `"${login}" is not a member of heddle_app`,
      `Run as a superuser: grant heddle_app to "${login}";`,
    )
  }
  if (isSuperuser) {
    return warned(
      name,
      `"${login}" is a superuser; Heddle still works as heddle_app`,
      'Create a login for services that is a member of heddle_app, and use this one for HEDDLE_ADMIN_DATABASE_URL only.',
    )
  }
  return passed(name, `"${login}" works as heddle_app, which is subject to row-level security`)
}

/** Compares the connections of one process, with all stages and with one, with those that server, role and database allow. */
export function connectionCheck(
  figures: ConnectionFigures,
  most: { readonly process: number; readonly stage: number },
): Check {
  const name = 'connections'
  const { connectionsMax, connectionsOpen, connectionLimits } = figures
  const left = [connectionsMax - connectionsOpen, ...connectionLimits.map(({ max, open }) => max - open)]
  const processes = Math.max(0, Math.floor(Math.min(...left) / most.process))
  const detail = `${describeFigures(figures)}; one process opens up to ${most.process}, a worker of one stage ${most.stage}: enough for ${processes} more`
  const hint = `${raiseHint(figures)}, or run fewer processes; each "heddle worker" and each "heddle up" is one.`
  if (processes < 1) return failed(name, detail, hint)
  return processes < 2 ? warned(name, detail, hint) : passed(name, detail)
}

/** The check of a server that refused this command a connection. */
export function noConnectionCheck(figures: ConnectionFigures): Check {
  const hint = `${raiseHint(figures)}, or end processes that hold them; waiting processes then continue by themselves.`
  return failed('connections', `${describeFigures(figures)}: no connection is left`, hint)
}

function describeFigures({ connectionsMax, connectionsOpen, connectionLimits }: ConnectionFigures): string {
  const limits = connectionLimits.map(({ of, name, max, open }) => `, ${of} "${name}" may have ${max}, ${open} open`)
  return `max_connections ${connectionsMax}, ${connectionsOpen} open${limits.join('')}`
}

function raiseHint({ connectionsMax, connectionsOpen, connectionLimits }: ConnectionFigures): string {
  const [tightest] = [...connectionLimits].sort((one, other) => one.max - one.open - (other.max - other.open))
  if (tightest === undefined || tightest.max - tightest.open >= connectionsMax - connectionsOpen) {
    return 'Raise max_connections'
  }
  return `Raise the limit (alter ${tightest.of} "${tightest.name}" connection limit ...)`
}

/** Smaller differences come from network latency and from the precision of time servers. */
const SKEW_MS_MAX = 5_000

/** Deadlines and due times are compared with times that other machines wrote. */
export function clockCheck({ clockSkewMs }: Pick<ServerHealth, 'clockSkewMs'>): Check {
  const seconds = (Math.abs(clockSkewMs) / 1_000).toFixed(1)
  if (Math.abs(clockSkewMs) <= SKEW_MS_MAX) return passed('clock', `${seconds} s from that of the database`)
  const detail = `this machine's clock is ${seconds} s ${clockSkewMs > 0 ? 'behind' : 'ahead of'} the database's`
  const hint =
    'Synchronize both with a time server (timedatectl set-ntp true). Until then housekeeping uses the earlier of them.'
  return warned('clock', detail, hint)
}
