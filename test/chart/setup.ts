/** Once for all files of the project: they would overwrite each other's tools. */
export { fetchTools as setup } from './tools.js'
