/** A table whose rows are part of an exported thread, with all columns except the ids of the thread and its owners. */
export interface ExportTable {
  readonly table: string
  /** Columns that order a thread's rows the same way in every database. */
  readonly key: readonly string[]
  /** The type of each column, in the order in which they are written. */
  readonly columns: Readonly<Record<string, string>>
  /** Columns that are null in the table where they are the same as another one; files have the value. */
  readonly sameAs?: Readonly<Record<string, string>>
}

/** Columns that an export omits: ids that are only valid in one database, and the ids of the owners. */
export const unexportedColumns = [
  'thread_id',
  'project_id',
  'id of archive',
  'id of context_states',
  'id of progress_summaries',
  // Identified by its position among the states of the file.
  'replaces of context_states',
  'state_id of prunings',
  'agent_id of facts',
  // Identified by its type, server and name.
  'item_id of thread_items',
  // Blocks of the thread alone.
  'agent_id of memory_block_versions',
  'owner_id of memory_block_versions',
  // Only blocks of agents are shared.
  'written_by of memory_block_versions',
  // Identified by its message and location.
  'archive_id of prunings',
]

const time = 'timestamptz'

/**
 * The tables of an exported thread. The server itself writes and reads the rows, column by column, so each value is preserved
 * exactly, whatever its type.
 */
export const exportTables = {
  threadVersion: {
    table: 'thread_versions',
    key: ['version'],
    columns: {
      version: 'integer',
      title: 'text',
      goal: 'text',
      status: 'text',
      settings: 'json',
      loop: 'json',
      created_at: time,
    },
  },
  threadItem: {
    table: 'thread_items',
    key: ['item_id', 'version'],
    columns: { version: 'integer', include_mode: 'text', removed: 'boolean', created_at: time },
  },
  block: {
    table: 'memory_block_versions',
    key: ['label', 'version'],
    columns: {
      label: 'text',
      version: 'integer',
      description: 'text',
      value: 'text',
      characters_max: 'integer',
      read_only: 'boolean',
      removed: 'boolean',
      change: 'text',
      request_id: 'uuid',
      created_at: time,
    },
  },
  process: {
    table: 'processes',
    key: ['name', 'version'],
    columns: { name: 'text', version: 'integer', status: 'text', ended_at: time, created_at: time },
  },
  runningProcess: {
    table: 'running_processes',
    key: ['name'],
    columns: { name: 'text', version: 'integer', updated_at: time },
  },
  iteration: {
    table: 'iterations',
    key: ['number'],
    columns: {
      number: 'integer',
      id: 'uuid',
      happened_at: time,
      cli_used: 'text',
      model_used: 'text',
      prompt: 'text',
      output: 'text',
      seq: 'bigint',
      texts_escaped: 'boolean',
      progress_score: 'double precision',
      progress_markers: 'json',
      file_changes: 'json',
      file_events: 'json',
      duration_seconds: 'double precision',
      fingerprint: 'bytea',
      created_at: time,
    },
  },
  progressSummary: {
    table: 'progress_summaries',
    key: ['lane', 'clear_epoch', 'version'],
    columns: {
      lane: 'text',
      clear_epoch: 'integer',
      version: 'integer',
      kind: 'text',
      total: 'integer',
      covered_count: 'integer',
      covered_from: 'integer',
      covered_to: 'integer',
      summary: 'text',
      summary_tokens: 'integer',
      summarizer: 'text',
      created_at: time,
    },
  },
  clear: { table: 'thread_clears', key: ['epoch'], columns: { epoch: 'integer', head_seq: 'bigint' } },
  archive: {
    table: 'archive',
    key: ['message_id', 'location'],
    columns: {
      message_id: 'uuid',
      location: 'text',
      content_type: 'text',
      summary: 'text',
      content_hash: 'bytea',
      file_paths: 'text[]',
      tool_name: 'text',
      token_count: 'integer',
      failed: 'boolean',
      original_created_at: time,
      archived_at: time,
      last_accessed_at: time,
      access_count: 'integer',
    },
  },
  state: {
    table: 'context_states',
    key: ['created_at', 'lane', 'clear_epoch', 'generation', 'head_seq', 'point_id'],
    columns: {
      lane: 'text',
      strategy: 'text',
      clear_epoch: 'integer',
      generation: 'integer',
      status: 'text',
      point_at: time,
      point_ordinal: 'integer',
      point_id: 'uuid',
      head_seq: 'bigint',
      top_ids: 'uuid[]',
      covered_from_at: time,
      covered_from_ordinal: 'integer',
      covered_from_id: 'uuid',
      covered_to_at: time,
      covered_to_ordinal: 'integer',
      covered_to_id: 'uuid',
      covered_count: 'integer',
      covered_tokens: 'bigint',
      summary: 'text',
      summary_tokens: 'integer',
      summarizer: 'text',
      ledger: 'json',
      created_at: time,
      ready_at: time,
      voided_at: time,
    },
  },
  pruning: {
    table: 'prunings',
    key: ['message_id', 'state_id'],
    columns: {
      message_id: 'uuid',
      action: 'text',
      text: 'text',
      calls: 'json',
      tokens: 'integer',
      reason: 'text',
      undone_at: time,
      created_at: time,
    },
  },
  undone: {
    table: 'undone_messages',
    key: ['message_id', 'undone_at'],
    columns: { message_id: 'uuid', undone_at: time, redone_at: time },
  },
  pin: {
    table: 'pins',
    key: ['message_id', 'changed_at'],
    columns: { message_id: 'uuid', changed_at: time, is_pinned: 'boolean', until: time },
  },
  fact: {
    table: 'facts',
    key: ['recorded_at', 'id'],
    columns: {
      id: 'uuid',
      subject: 'text',
      subject_key: 'text',
      predicate: 'text',
      object: 'text',
      kind: 'text',
      is_negated: 'boolean',
      is_single: 'boolean',
      statement: 'text',
      valid_from: time,
      valid_to: time,
      recorded_at: time,
      sources: 'uuid[]',
      extractor: 'text',
      confidence: 'real',
      origin: 'text',
      corrected_by: 'uuid',
      retracted_at: time,
    },
  },
  message: {
    table: 'messages',
    key: ['seq'],
    sameAs: { latest_at: 'ordered_at' },
    columns: {
      seq: 'bigint',
      id: 'uuid',
      code: 'text',
      role: 'text',
      content: 'text',
      content_escaped: 'boolean',
      parts: 'json',
      thinking: 'json',
      tool_calls: 'json',
      tool_call_id: 'text',
      tool_name: 'text',
      is_error: 'boolean',
      sent_at: time,
      ordered_at: time,
      ordinal: 'integer',
      latest_at: time,
      received_at: time,
      source_id: 'text',
      model: 'text',
      usage: 'json',
      context_id: 'uuid',
      pinned: 'boolean',
      kept_aside: 'text',
      metadata: 'json',
      tokens_estimate: 'integer',
      fingerprint: 'bytea',
      restores_seq: 'bigint',
    },
  },
} as const satisfies Record<string, ExportTable>
export type ExportTableName = keyof typeof exportTables
