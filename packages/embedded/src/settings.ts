/**
 * What Heddle's own server is started with, whatever the cluster's `postgresql.conf` says.
 *
 * @param durable false only for data that nobody misses: nothing is flushed to the disk, so a power cut destroys the cluster
 *   (killed processes do not)
 */
export function serverSettings(port: number, durable: boolean): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // No socket file: its path may be too long for the system, or be that of another server.
    unix_socket_directories: '',
    // Every worker on the Postgres backend holds a listening connection of its own.
    max_connections: '200',
    shared_buffers: '128MB',
    // Reserved huge pages of a container can be fewer than the kernel says, which kills the server.
    huge_pages: 'off',
    // Compiling a query takes longer than any query that Heddle runs.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_checkpoints: 'off',
    // Statements, keys and values of failed statements hold what users wrote, so they stay out of the log.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...(!durable && { fsync: 'off', full_page_writes: 'off' }),
  }
}

/** Settings as arguments of the `postgres` program. */
export function settingsArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
