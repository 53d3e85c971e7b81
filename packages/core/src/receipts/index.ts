export { diffContexts } from './diff.js'
