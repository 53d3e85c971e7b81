export * from './copies.js'
export * from './file.js'
export * from './file-name.js'
export * from './format.js'
