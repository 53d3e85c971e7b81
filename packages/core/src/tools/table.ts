import type { ToolRule } from '@heddle/contracts'

const PATH = [
  'file_path',
  'path',
  'filename',
  'file_name',
  'file',
  'filepath',
  'filePath',
  'fileName',
  'target_file',
  'targetFile',
  'TargetFile',
  'AbsolutePath',
  'absolute_path',
  'relative_path',
  'relative_workspace_path',
  'notebook_path',
  'uri',
]
/** Arguments with the whole content of a file. */
const CONTENT = ['content', 'contents', 'file_text', 'file_content', 'fileContent', 'CodeContent', 'code', 'text']
const FOLDER = [
  'path',
  'dir',
  'directory',
  'dir_path',
  'search_path',
  'searchPath',
  'SearchPath',
  'SearchDirectory',
  'target_directory',
  'relative_path',
  'folder',
  'file',
  'file_path',
  'paths',
]
const PATTERN = [
  'pattern',
  'regex',
  'query',
  'Query',
  'search_term',
  'searchTerm',
  'substring_pattern',
  'search',
  'glob',
  'glob_pattern',
  'file_name',
  'Pattern',
  'term',
  'text',
]
/** Arguments with the working directory of a call. */
const DIRECTORY = ['cwd', 'workdir', 'working_directory', 'workingDirectory', 'working_dir', 'Cwd']
const COMMAND = ['command', 'cmd', 'script', 'commandLine', 'CommandLine', 'command_line', 'input', 'code']

/** The tools of supported agents. The first row that fits a call decides. */
export const defaultToolTable: readonly ToolRule[] = [
  // Anthropic's text editor: one tool, its commands in an argument.
  {
    names: ['str_replace_based_edit_tool', 'str_replace_editor', 'text_editor', 'edit_anthropic', 'file_editor'],
    kind: 'file_view',
    when: { argument: 'command', values: ['view', 'open'] },
    path: PATH,
  },
  {
    names: ['str_replace_based_edit_tool', 'str_replace_editor', 'text_editor', 'edit_anthropic', 'file_editor'],
    kind: 'edit',
    when: { argument: 'command', values: ['create', 'write'] },
    path: PATH,
    content: CONTENT,
  },
  {
    names: ['str_replace_based_edit_tool', 'str_replace_editor', 'text_editor', 'edit_anthropic', 'file_editor'],
    kind: 'edit',
    when: { argument: 'command', values: ['str_replace', 'insert', 'undo_edit', 'delete', 'rename'] },
    path: PATH,
  },
  // Patches that contain the names of their files.
  { names: ['apply_patch', 'patch', 'apply_diff_patch'], kind: 'edit', patch: ['input', 'patch', 'patchText', 'diff'] },
  // Claude Code, Crush, opencode, Cline, Roo, Cursor, Gemini CLI, Copilot, and common names of custom tools.
  {
    names: ['read', 'read_file', 'view', 'view_file', 'open_file', 'cat', 'file_read', 'read_text_file', 'show_file'],
    kind: 'file_view',
    path: PATH,
  },
  { names: ['notebook_read', 'get_file_contents', 'fs_read', 'read_many_files'], kind: 'file_view', path: PATH },
  {
    names: ['edit', 'multi_edit', 'insert', 'create', 'append'],
    kind: 'edit',
    path: PATH,
    // SWE-agent's `edit` and `insert` act on the open file.
    openFile: ['search', 'text', 'replacement_text', 'start_line'],
  },
  {
    names: ['write', 'write_file', 'write_to_file', 'create_file', 'save_file', 'file_write'],
    kind: 'edit',
    path: PATH,
    content: CONTENT,
  },
  {
    names: ['fs_write'],
    kind: 'edit',
    when: { argument: 'command', values: ['create'] },
    path: PATH,
    content: CONTENT,
  },
  { names: ['fs_write', 'append_to_file'], kind: 'edit', path: PATH },
  {
    names: ['edit_file', 'file_edit', 'notebook_edit', 'replace', 'str_replace', 'replace_in_file', 'search_replace'],
    kind: 'edit',
    path: PATH,
  },
  {
    names: ['search_and_replace', 'apply_diff', 'insert_content', 'insert_edit_into_file', 'replace_string_in_file'],
    kind: 'edit',
    path: PATH,
  },
  { names: ['delete_file', 'remove_file', 'edit_notebook', 'reapply'], kind: 'edit', path: PATH },
  {
    names: ['grep', 'grep_search', 'search', 'search_files', 'search_file_content', 'ripgrep', 'rg', 'search_code'],
    kind: 'grep',
    pattern: PATTERN,
    searchPath: FOLDER,
  },
  {
    names: [
      'search_dir',
      'search_file',
      'search_text',
      'search_for_pattern',
      'codebase_search',
      'find_text',
      'find_in_files',
    ],
    kind: 'grep',
    pattern: PATTERN,
    searchPath: FOLDER,
  },
  {
    names: ['glob', 'find_file', 'find_files', 'file_search', 'find_by_name', 'glob_file_search'],
    kind: 'grep',
    pattern: PATTERN,
    searchPath: FOLDER,
  },
  {
    names: ['bash', 'shell', 'run_command', 'execute_command', 'run_shell_command', 'shell_command', 'exec_command'],
    kind: 'bash',
    command: COMMAND,
    directory: DIRECTORY,
  },
  {
    names: [
      'execute_bash',
      'run_terminal_cmd',
      'run_in_terminal',
      'terminal',
      'exec',
      'execute',
      'run',
      'sh',
      'local_shell',
    ],
    kind: 'bash',
    command: COMMAND,
    directory: DIRECTORY,
  },
  {
    names: ['powershell', 'pwsh', 'cmd', 'execute_shell', 'container.exec', 'bash_command'],
    kind: 'bash',
    command: COMMAND,
    directory: DIRECTORY,
  },
  // SWE-agent's file viewer.
  { names: ['open', 'goto'], kind: 'file_view', path: PATH, openFile: ['line_number'] },
  { names: ['scroll_down', 'scroll_up'], kind: 'file_view', openFile: true },
]
