/**
 * Settings of the embedded server, which override the cluster's `postgresql.conf`.
 *
 * @param durable false only for disposable data: nothing is flushed to the disk, so a power cut destroys the cluster (killed
 *   processes do not)
 */
export function serverSettings(port: number, durable: boolean): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // No socket file: its path may be too long for the system, or be used by another server.
    unix_socket_directories: '',
    // Every worker process on the Postgres backend has a listening connection of its own.
    max_connections: '200',
    shared_buffers: '128MB',
    // A container may have fewer huge pages than the kernel reports, which kills the server.
    huge_pages: 'off',
    // Compiling a query takes longer than any query that Heddle runs.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_destination: 'stderr',
    logging_collector: 'off',
    log_checkpoints: 'off',
    // Statements, keys and values of failed statements contain user data, so they are not logged.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...(!durable && { fsync: 'off', full_page_writes: 'off' }),
  }
}

export function settingsArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
