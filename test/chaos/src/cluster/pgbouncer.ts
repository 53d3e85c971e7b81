import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@heddle/test-support/wait-for'
import type { Host } from './host.js'
import { isListening } from './is-listening.js'
import { POSTGRES_PORT } from './patroni.js'
import { POSTGRES_USER } from './requirements.js'

export const PGBOUNCER_PORT = 6432

export interface PgbouncerOptions {
  /** The address of the leader. */
  readonly leader: string
  readonly database: string
  readonly login: { readonly name: string; readonly password: string }
}

/** Shares connections to the leader among transactions. */
export async function startPgbouncer(host: Host, options: PgbouncerOptions): Promise<void> {
  const [file, users] = [join(host.folder, 'pgbouncer.ini'), join(host.folder, 'users.txt')]
  await host.makeFolder(POSTGRES_USER)
  await writeFile(users, `"${options.login.name}" "${options.login.password}"\n`)
  await writeFile(file, configurationOf(options, users))
  host.start('pgbouncer', { command: ['pgbouncer', file], user: POSTGRES_USER })
  await waitFor(() => isListening(host.address, PGBOUNCER_PORT), { what: 'PgBouncer' })
}

/** As docs/operations.md#high-availability recommends. */
function configurationOf({ leader, database }: PgbouncerOptions, users: string): string {
  return `${[
    '[databases]',
    `${database} = host=${leader} port=${POSTGRES_PORT} dbname=${database}`,
    '[pgbouncer]',
    'listen_addr = *',
    `listen_port = ${PGBOUNCER_PORT}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    'max_client_conn = 500',
    'default_pool_size = 20',
    'reserve_pool_size = 5',
    // A leader that is gone is tried again each second, not after 15.
    'server_login_retry = 1',
    'server_connect_timeout = 3',
    'server_lifetime = 300',
    'query_wait_timeout = 10',
    'tcp_keepidle = 5',
    'tcp_keepintvl = 2',
    'tcp_keepcnt = 3',
    'tcp_user_timeout = 5000',
  ].join('\n')}\n`
}
