export * from './claude-code.js'
export * from './codex.js'
export * from './opencode.js'
export * from './options.js'
